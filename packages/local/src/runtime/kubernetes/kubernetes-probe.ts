import { VersionApi } from "@kubernetes/client-node";
import type { KubernetesOptions, RuntimeOptions } from "../runtime-options.js";
import type { RuntimeReport } from "../sandbox-runtime.js";
import { apiClient, openCluster, reasonOf, statusOf, UnusableClusterError } from "./cluster.js";
import { NoCapacityForTrialError, requireClosedNetwork, waitMs, whatToChange } from "./network-trial.js";
import { diskCount } from "./pod.js";
import { type PodMaker, podKind, refusalOf } from "./pod-maker.js";
import { openPodMaker } from "./pod-makers.js";

/**
 * Finds out whether this process can start sandboxes in the cluster. It asks the cluster whether it would take a Pod of each template.
 * Unless the network may be open, it starts two Pods for a moment, to see whether their code reaches the network. Calls `postpone` with
 * the reason if the cluster has no room for them now: a server must come back to its sandboxes also when a quota is full.
 */
export async function probeCluster(
  { kubernetes = {}, rootInside, signal }: RuntimeOptions,
  postpone: (reason: string) => void,
): Promise<RuntimeReport> {
  const unusable = (reason: string, fix: string): RuntimeReport => ({
    runtime: "kubernetes",
    usable: false,
    reason,
    fix,
  });
  if (rootInside)
    return unusable("code is never root in a Pod", "use the bubblewrap runtime, or leave --root-inside out");
  try {
    const cluster = openCluster(kubernetes);
    const { gitVersion } = await apiClient(cluster.config, VersionApi).getCode();
    await cluster.api.listNamespacedPod({ namespace: cluster.namespace, limit: 1 });
    const maker = await openPodMaker(cluster, kubernetes);
    const { openNetwork = false } = kubernetes;
    await requireTaken(maker, kubernetes);
    const trial = { cluster, maker, kind: podKind(kubernetes, "base"), waitMs, signal };
    let untried: string | undefined;
    if (!openNetwork)
      await requireClosedNetwork(trial).catch((error: unknown) => {
        if (!(error instanceof NoCapacityForTrialError)) throw error;
        untried = `the network is tried before the first sandbox is started, because there is no room for a Pod now: ${error.message}`;
        postpone(untried);
      });
    return {
      runtime: "kubernetes",
      usable: true,
      version: gitVersion,
      disks: diskCount,
      isElsewhere: true,
      isolation: kubernetes.runtimeClass?.level ?? "container",
      enforcement: [
        { limit: "memory", by: "cgroup" },
        { limit: "processes", by: "none" },
        { limit: "cpu", by: "cgroup" },
        { limit: "disk", by: "tmpfs" },
        { limit: "pause", by: "none" },
      ],
      remarks: [
        "Kubernetes limits processes for each node, with podPidsLimit of the kubelet, and not for each sandbox",
        ...(openNetwork
          ? ["code in a Pod may reach the cluster's network and the internet, whatever its sandbox allows"]
          : []),
        ...(untried === undefined ? [] : [untried]),
        "sandboxes cannot be paused, their root is read-only, and templates cannot be built",
      ],
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnusableClusterError) return unusable(error.message, error.fix);
    const status = statusOf(error);
    const rights = kubernetes.sandboxes === "agent-sandbox" ? "agent-sandbox" : "sandboxes";
    if (status === 401 || status === 403)
      return unusable(
        `the API server refuses this user: ${reasonOf(error)}`,
        `use a kubeconfig or a service account that has the rights of the Role in deploy/kubernetes/${rights}.yaml and, for a server outside of the cluster, in outside.yaml`,
      );
    return unusable(
      `no sandbox can be started on Kubernetes: ${reasonOf(error)}`,
      "name a kubeconfig with --kubeconfig or KUBECONFIG, and check that kubectl reaches the cluster with it",
    );
  }
}

/** Rejects if the cluster would refuse the Pods of a template. */
async function requireTaken(maker: PodMaker, kubernetes: KubernetesOptions): Promise<void> {
  const templates = ["base", "code-interpreter", ...(kubernetes.images ?? [])];
  for (const template of templates) {
    const refusal = await refusalOf(maker, podKind(kubernetes, template));
    if (refusal !== undefined)
      throw new UnusableClusterError(
        `the cluster refuses Pods of the template ${template}: ${refusal}`,
        whatToChange,
      );
  }
}
