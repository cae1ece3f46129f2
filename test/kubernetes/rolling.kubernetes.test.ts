import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { Balancer } from "../support/kubernetes/balancer.js";
import {
  kubectl,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { SteadyLoad } from "../support/kubernetes/steady-load.js";
import type { LocalServer } from "../support/local-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("an upgrade of servers that act as one", ({ skip }) => skip(obstacle));
else {
  const args = ["--kubernetes-records", "--pool", "1", "--host", "0.0.0.0"];
  const replacements = Number(process.env.ROLLING_REPLACEMENTS ?? 2);
  let servers: LocalServer[] = [];
  const start = async (): Promise<LocalServer> => {
    const server = await startKubernetesServer({ args });
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop("SIGKILL").catch(() => undefined)));
    servers = [];
    const left = ["configmaps,pods", "-l", "app.kubernetes.io/managed-by=cloud-sandbox"];
    await kubectl("delete", ...left, "--grace-period=0", "--force");
    await kubectl("delete", "leases,secrets", "-l", "app.kubernetes.io/managed-by=cloud-sandbox");
  });

  // By hand: ROLLING_REPLACEMENTS=12 npx vitest run --project kubernetes test/kubernetes/rolling
  test("servers are replaced one after the other, and no call fails", async () => {
    await using balancer = await Balancer.open();
    const running = [await start(), await start()];
    const share = (): void => balancer.set(running.map(({ url }) => url));
    share();
    const load = new SteadyLoad(balancer.url, running[0]?.apiKey ?? "");
    await load.begin();
    for (let count = 0; count < replacements; count += 1) {
      running.push(await start());
      share();
      const last = running.shift();
      const ended = last?.stop();
      // A cluster tells its nodes of a server that ends while that is told to end, so callers still come.
      await sleep(500);
      share();
      expect(await ended).toEqual({ code: 0, signal: null });
      const before = load.calls;
      await expect.poll(() => load.calls, { timeout: 60_000 }).toBeGreaterThan(before + 50);
    }
    const left = await load.end();
    console.table({ calls: load.counts, "longest, ms": load.longest });
    expect([load.failures, left]).toEqual([[], []]);
    const records = ["configmaps", "-l", "cloud-sandbox.dev/record=sandbox", "-o", "name"];
    expect(await kubectl("get", ...records)).toBe("");
  }, 600_000);
}
