import type { V1Pod } from "@kubernetes/client-node";
import { type Cluster, reasonOf } from "./cluster.js";
import { ownLabel } from "./pod.js";

/** A Pod that has not started after this time has no server that waits for it. */
const oldestPendingMs = 10 * 60_000;

const selector = Object.entries(ownLabel)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/**
 * Removes our Pods that have ended, or never started. A Pod ends when its server does, so those that run have a server, on
 * whichever machine, and are not touched. Returns how many were removed.
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
