import type { KubernetesOptions, KubernetesSandboxes } from "../runtime-options.js";
import { AgentSandboxes } from "./agent-sandboxes.js";
import type { Cluster } from "./cluster.js";
import { OwnPods } from "./own-pods.js";
import type { PodMaker } from "./pod-maker.js";

/** Opens the maker of Pods for each kind of object that a sandbox can be in the cluster. */
const podMakers: Record<KubernetesSandboxes, (cluster: Cluster) => Promise<PodMaker>> = {
  pods: async (cluster) => new OwnPods(cluster),
  "agent-sandbox": (cluster) => AgentSandboxes.open(cluster),
};

/** Rejects if the cluster does not have what is needed for it. */
export const openPodMaker = (
  cluster: Cluster,
  { sandboxes = "pods" }: KubernetesOptions,
): Promise<PodMaker> => podMakers[sandboxes](cluster);
