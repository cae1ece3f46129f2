import type { V1Pod } from "@kubernetes/client-node";
import { type Cluster, reasonOf } from "./cluster.js";
import { ownLabel } from "./pod.js";

/** Milliseconds after which no server waits any more for a Pod to start. */
const oldestPendingMs = 10 * 60_000;

const selector = Object.entries(ownLabel)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/**
 * Removes our Pods that have ended, or that have not started for long. A Pod ends by itself when its server stays away, so
 * one that runs has a server, or still waits for the next one, and is not touched. Returns how many were removed.
 */
export async function removeOrphans({ api, namespace }: Cluster): Promise<number> {
  const { items } = await api
    .listNamespacedPod({ namespace, labelSelector: selector })
    .catch((error: unknown) => {
      throw new Error(`Kubernetes does not list Pods: ${reasonOf(error)}`, { cause: error });
    });
  const orphans = items.filter(isOver);
  await Promise.all(
    orphans.map(({ metadata }) =>
      api
        .deleteNamespacedPod({ namespace, name: metadata?.name ?? "", gracePeriodSeconds: 0 })
        .catch(() => undefined),
    ),
  );
  return orphans.length;
}

function isOver({ metadata, status }: V1Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  const age = Date.now() - Number(metadata?.creationTimestamp ?? Date.now());
  return status?.phase === "Pending" && age > oldestPendingMs;
}
