import { randomBytes } from "node:crypto";
import type { Cluster } from "./cluster.js";
import { trialLimits } from "./dry-run.js";
import { containerName, loading, sandboxPod } from "./pod.js";
import type { PodKind } from "./pod-kind.js";
import type { PodMaker } from "./pod-maker.js";
import { endedPod, runningPod } from "./pod-states.js";
import { PodWatch } from "./pod-watch.js";

const trialLimitMs = 120_000;
const port = 7777;
/** The exit code of a trial that reached something. */
const reachedSomething = 10;

const listens = `require("net").createServer().listen(${port});setTimeout(()=>{},${trialLimitMs})`;

/** Connects to each address given, and exits with {@link reachedSomething} if one answers, even by refusing. */
const connects = `
const addresses = process.argv.slice(1).map((address) => address.split("|"));
addresses.push([process.env.KUBERNETES_SERVICE_HOST, process.env.KUBERNETES_SERVICE_PORT]);
for (const [host, port] of addresses) {
  const socket = require("net").connect({ host, port });
  socket.once("connect", () => process.exit(${reachedSomething}));
  socket.once("error", ({ code }) => code === "ECONNREFUSED" && process.exit(${reachedSomething}));
}
setTimeout(() => process.exit(0), 3000);`;

/**
 * Whether a Pod of the cluster reaches another one, or the API server, as it does unless a NetworkPolicy forbids it and a plug-in
 * enforces that. Starts two Pods like those of sandboxes, and removes them, also when `giveUp` aborts.
 */
export async function reachesNetwork(
  cluster: Cluster,
  maker: PodMaker,
  kind: PodKind,
  giveUp?: AbortSignal,
): Promise<boolean> {
  const server = randomBytes(8).toString("hex");
  const limit = AbortSignal.timeout(trialLimitMs);
  const signal = giveUp ? AbortSignal.any([limit, giveUp]) : limit;
  const names = { there: `cloud-sandbox-trial-${server}-1`, here: `cloud-sandbox-trial-${server}-2` };
  const pods = await PodWatch.open(cluster, server);
  const create = async (name: string, code: string, ...args: readonly string[]): Promise<void> => {
    const command = [...loading, "-e", code, ...args];
    const own = { name, server, limits: trialLimits, command };
    const pod = sandboxPod({ ...kind, ...own, secretHash: "", waitMs: 0 });
    await maker.create(pod, pods);
  };
  try {
    await create(names.there, listens);
    const there = await runningPod(pods, names.there, signal);
    await create(names.here, connects, `${there.status?.podIP}|${port}`);
    const here = await endedPod(pods, names.here, signal);
    const end = here.status?.containerStatuses?.find(({ name }) => name === containerName)?.state?.terminated;
    if (end?.exitCode !== 0 && end?.exitCode !== reachedSomething)
      throw new Error(`the trial of the network ended with ${end?.reason ?? end?.exitCode}`);
    return end.exitCode === reachedSomething;
  } finally {
    await Promise.all(Object.values(names).map((name) => maker.remove(name).catch(() => undefined)));
    await pods.close();
  }
}
