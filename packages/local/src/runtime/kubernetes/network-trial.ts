import { randomBytes } from "node:crypto";
import { type Cluster, isOfQuota, reasonOf, statusOf, UnusableClusterError } from "./cluster.js";
import { containerName, loading, sandboxPod } from "./pod.js";
import { type PodKind, type PodMaker, trialLimits } from "./pod-maker.js";
import { endedPod, placedPod, runningPod } from "./pod-states.js";
import { PodWatch } from "./pod-watch.js";

const trialLimitMs = 120_000;
/**
 * Milliseconds that a starting server waits until its Pod has a node. Sandboxes of an earlier server wait longer for it.
 */
export const waitMs = 10_000;
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

/** Advice for a cluster that does not take a Pod, or does not start it. */
export const whatToChange =
  "change what the reason names: --kubernetes-image, --kubernetes-agent-image, --kubernetes-runtime-class, --kubernetes-placement, a quota of the namespace, or the rights of the server";

/** A quota or the nodes have no room for the Pods of the trial now. */
export class NoCapacityForTrialError extends Error {}

/** The parts that the trial uses. */
interface Trial {
  readonly cluster: Cluster;
  readonly maker: PodMaker;
  readonly kind: PodKind;
  /** Milliseconds that a Pod may wait for a node. Default: as long as the trial may take. */
  readonly waitMs?: number | undefined;
  /** Gives up the trial. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Rejects if code in a Pod reaches the network of the cluster, or if no Pod can be started to try that. Rejects with a
 * {@link NoCapacityForTrialError} if there may be room for one later.
 */
export async function requireClosedNetwork(trial: Trial): Promise<void> {
  const reaches = await reachesNetwork(trial).catch((error: unknown) => {
    if (error instanceof NoCapacityForTrialError || statusOf(error) !== undefined) throw error;
    throw new UnusableClusterError(
      `no Pod can be started to try the network: ${reasonOf(error)}`,
      whatToChange,
    );
  });
  if (reaches)
    throw new UnusableClusterError(
      "code in a Pod reaches the network of the cluster: no NetworkPolicy forbids it, or no network plug-in enforces it",
      "apply the NetworkPolicy of deploy/kubernetes/sandboxes.yaml, and use a network plug-in that enforces it; or start with --kubernetes-open-network, in the Helm chart openNetwork=true, if you trust the code that runs",
    );
}

/**
 * Whether a Pod of the cluster reaches another one, or the API server, as it does unless a NetworkPolicy forbids it and a plug-in
 * enforces that. Starts two Pods like those of sandboxes, and removes them, also when it is given up.
 */
async function reachesNetwork({
  cluster,
  maker,
  kind,
  waitMs = trialLimitMs,
  signal: giveUp,
}: Trial): Promise<boolean> {
  const server = randomBytes(8).toString("hex");
  const limit = AbortSignal.timeout(trialLimitMs);
  const signal = giveUp ? AbortSignal.any([limit, giveUp]) : limit;
  const names = { there: `cloud-sandbox-trial-${server}-1`, here: `cloud-sandbox-trial-${server}-2` };
  const pods = await PodWatch.open(cluster, server);
  const create = async (name: string, code: string, ...args: readonly string[]): Promise<void> => {
    const command = [...loading, "-e", code, ...args];
    const own = { name, server, limits: trialLimits, command };
    const pod = sandboxPod({ ...kind, ...own, secretHash: "", waitMs: 0 });
    await maker.create(pod, pods).catch((error: unknown) => {
      const reason = reasonOf(error);
      throw isOfQuota(reason) ? new NoCapacityForTrialError(reason, { cause: error }) : error;
    });
    const deadline = AbortSignal.timeout(waitMs);
    await placedPod(pods, name, AbortSignal.any([signal, deadline])).catch((error: unknown) => {
      throw deadline.aborted ? new NoCapacityForTrialError(reasonOf(error), { cause: error }) : error;
    });
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
