import type { V1Pod } from "@kubernetes/client-node";
import { longestStartSeconds } from "../runtime-options.js";
import { type Cluster, isOfQuota, reasonOf, statusOf } from "./cluster.js";
import { ownLabel } from "./pod.js";
import type { PodMaker } from "./pod-maker.js";
import { removePod } from "./pod-states.js";

/** Makes Pods itself. */
export class OwnPods implements PodMaker {
  constructor(private readonly cluster: Cluster) {}

  async create(pod: V1Pod): Promise<void> {
    const { api, namespace } = this.cluster;
    await api.createNamespacedPod({ namespace, body: pod }).catch((error: unknown) => {
      throw new Error(`Kubernetes did not create the Pod: ${reasonOf(error)}`, { cause: error });
    });
  }

  /** A quota that is full is no refusal: it may have room later. */
  async refusal(pod: V1Pod): Promise<string | undefined> {
    const { api, namespace } = this.cluster;
    try {
      await api.createNamespacedPod({ namespace, body: pod, dryRun: "All" });
      return undefined;
    } catch (error) {
      const reason = reasonOf(error);
      // Other statuses say that the cluster cannot tell, as one with a webhook that has no dry runs.
      const isRefused = statusOf(error) === 403 || statusOf(error) === 422;
      return isRefused && !isOfQuota(reason) ? reason : undefined;
    }
  }

  remove(name: string): Promise<void> {
    return removePod(this.cluster, name);
  }

  async orphans(): Promise<string[]> {
    const pods = await ownPods(this.cluster);
    return pods
      .filter((pod) => isOrphan(pod) && !this.objection(pod))
      .map(({ metadata }) => metadata?.name ?? "");
  }

  /** A controller makes its Pod again when only the Pod is removed. */
  objection({ metadata }: V1Pod): string | undefined {
    const { kind, name } = metadata?.ownerReferences?.find(({ controller }) => controller) ?? {};
    return (
      kind &&
      `Its Pod belongs to the ${kind} ${name}: start the server with --kubernetes-sandboxes agent-sandbox, or delete that ${kind}.`
    );
  }
}

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
