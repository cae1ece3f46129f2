import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { probeCluster } from "../../src/runtime/kubernetes/kubernetes-probe.js";

afterEach(() => vi.unstubAllEnvs());

test("without a kubeconfig, the kubernetes runtime says that there is none", async () => {
  vi.stubEnv("KUBECONFIG", undefined);
  vi.stubEnv("HOME", join(tmpdir(), "no-such-home"));
  expect(await probeCluster({}, () => undefined)).toMatchObject({
    usable: false,
    reason:
      "no sandbox can be started on Kubernetes: there is no kubeconfig, and this program does not run in a cluster",
  });
});
