import type { V1Pod } from "@kubernetes/client-node";
import { type Cluster, reasonOf } from "./cluster.js";
import { ownLabel } from "./pod.js";
import { removePod } from "./pod-states.js";

/** Milliseconds after which no server waits any more for a Pod to start. */
const oldestPendingMs = 10 * 60_000;

const selector = Object.entries(ownLabel)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/**
 * Our Pods that have ended, or that have not started for long. A Pod ends by itself when its server stays away, so one that runs
 * has a server, or still waits for the next one.
 */
export async function orphans({ api, namespace }: Cluster): Promise<string[]> {
  const { items } = await api
    .listNamespacedPod({ namespace, labelSelector: selector })
    .catch((error: unknown) => {
      throw new Error(`Kubernetes does not list Pods: ${reasonOf(error)}`, { cause: error });
    });
  return items.filter(isOver).map(({ metadata }) => metadata?.name ?? "");
}

export async function removeOrphans(cluster: Cluster, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => removePod(cluster, name).catch(() => undefined)));
}

function isOver({ metadata, status }: V1Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  const age = Date.now() - Number(metadata?.creationTimestamp ?? Date.now());
  return status?.phase === "Pending" && age > oldestPendingMs;
}
