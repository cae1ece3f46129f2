import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { probeCluster } from "../../src/runtime/kubernetes/kubernetes-probe.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Why a server with that kubeconfig does not start. */
async function reasonWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, "config");
  await writeFile(kubeconfig, text);
  const report = await probeCluster({ kubernetes: { kubeconfig } }, () => undefined);
  return report.usable ? "" : report.reason;
}

function kubeconfigOf(server: string, context = "own"): string {
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": context },
    clusters: [{ name: "own", cluster: { server } }],
    users: [{ name: "own", user: { token: "secret" } }],
    contexts: [{ name: "own", context: { cluster: "own", user: "own" } }],
  });
}

test("without a kubeconfig, the kubernetes runtime says that there is none", async () => {
  vi.stubEnv("KUBECONFIG", undefined);
  vi.stubEnv("HOME", join(tmpdir(), "no-such-home"));
  expect(await probeCluster({}, () => undefined)).toMatchObject({
    usable: false,
    reason:
      "no sandbox can be started on Kubernetes: there is no kubeconfig, and this program does not run in a cluster",
  });
});

test.each([
  ["is empty", "", /the kubeconfig .*config cannot be read: it is empty/],
  ["is cut off", "{", /the kubeconfig .*config cannot be read: /],
  [
    "has not its context",
    kubeconfigOf("http://127.0.0.1:1", "other"),
    /current-context \("other"\) is none of its contexts/,
  ],
])("a kubeconfig that %s is named", async (_, text, reason) => {
  expect(await reasonWith(text)).toMatch(reason);
});

test("an API server that accepts connections and never answers is given up", async () => {
  const silent = createServer((socket) => socket.on("error", () => undefined));
  await once(silent.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void silent.close());
  const timeout = AbortSignal.timeout;
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 100));
  const { port } = silent.address() as AddressInfo;
  expect(await reasonWith(kubeconfigOf(`https://127.0.0.1:${port}`))).toBe(
    "no sandbox can be started on Kubernetes: the API server did not answer in time",
  );
});
