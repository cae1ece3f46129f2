import type { V1Pod } from "@kubernetes/client-node";
import { longestStartSeconds } from "../runtime-options.js";
import { type Cluster, reasonOf } from "./cluster.js";
import { ownLabel } from "./pod.js";

/** Milliseconds after which no server waits any more for a Pod to start. */
const oldestPendingMs = (longestStartSeconds + 60) * 1000;

/** Selects what servers have made. */
export const ownSelector = Object.entries(ownLabel)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/** The Pods of sandboxes, of all servers. */
export async function ownPods({ api, namespace }: Cluster): Promise<V1Pod[]> {
  const { items } = await api
    .listNamespacedPod({ namespace, labelSelector: ownSelector })
    .catch((error: unknown) => {
      throw new Error(`Kubernetes does not list Pods: ${reasonOf(error)}`, { cause: error });
    });
  return items;
}

/** Whether nobody waits for a Pod any more: it has ended, or has not started for long. */
export function isOrphan({ metadata, status }: V1Pod): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return true;
  return status?.phase === "Pending" && isOld(metadata);
}

/** Whether a server that still waited for what it had made would have given up by now. */
export function isOld(metadata: { readonly creationTimestamp?: Date | string } | undefined): boolean {
  const made = new Date(metadata?.creationTimestamp ?? Date.now());
  return Date.now() - Number(made) > oldestPendingMs;
}
