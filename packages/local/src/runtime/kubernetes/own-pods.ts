import type { V1Pod } from "@kubernetes/client-node";
import { type Cluster, isOfQuota, reasonOf, statusOf } from "./cluster.js";
import type { PodMaker } from "./pod-maker.js";
import { isOrphan, ownPods } from "./pod-owner.js";
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
