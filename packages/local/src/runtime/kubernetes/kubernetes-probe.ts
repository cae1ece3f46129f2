import { VersionApi } from "@kubernetes/client-node";
import type { KubernetesOptions, RuntimeOptions } from "../runtime-options.js";
import type { RuntimeReport } from "../sandbox-runtime.js";
import { openCluster, reasonOf, statusOf, UnusableClusterError } from "./cluster.js";
import { refusalOf } from "./dry-run.js";
import { reachesNetwork } from "./network-trial.js";
import { diskCount } from "./pod.js";
import { podKind } from "./pod-kind.js";
import type { PodMaker } from "./pod-maker.js";
import { openPodMaker } from "./pod-makers.js";

const whatToChange =
  "change what the reason names: --kubernetes-image, --kubernetes-agent-image, --kubernetes-runtime-class, --kubernetes-placement, a quota of the namespace, or the rights of the server";

/**
 * Finds out whether this process can start sandboxes in the cluster. It asks the cluster whether it would take a Pod of each template.
 * Unless the network may be open, it starts two Pods for a moment, to see whether their code reaches the network.
 */
export async function probeCluster({
  kubernetes = {},
  rootInside,
  signal,
}: RuntimeOptions): Promise<RuntimeReport> {
  const unusable = (reason: string, fix: string): RuntimeReport => ({
    ...{ runtime: "kubernetes", usable: false, reason, fix },
  });
  if (rootInside)
    return unusable("code is never root in a Pod", "use the bubblewrap runtime, or leave --root-inside out");
  try {
    const cluster = openCluster(kubernetes);
    const { gitVersion } = await cluster.config.makeApiClient(VersionApi).getCode();
    await cluster.api.listNamespacedPod({ namespace: cluster.namespace, limit: 1 });
    const maker = await openPodMaker(cluster, kubernetes);
    const { openNetwork = false } = kubernetes;
    await requireTaken(maker, kubernetes);
    const reaches = async (): Promise<boolean> =>
      reachesNetwork(cluster, maker, podKind(kubernetes, "base"), signal).catch((error: unknown) => {
        if (statusOf(error) !== undefined) throw error;
        throw new UnusableClusterError(
          `no Pod can be started to try the network: ${reasonOf(error)}`,
          whatToChange,
        );
      });
    if (!openNetwork && (await reaches()))
      return unusable(
        "code in a Pod reaches the network of the cluster: no NetworkPolicy forbids it, or no network plug-in enforces it",
        "apply the NetworkPolicy of deploy/kubernetes/sandboxes.yaml, and use a network plug-in that enforces it; or start with --kubernetes-open-network, in the Helm chart openNetwork=true, if you trust the code that runs",
      );
    return {
      ...{ runtime: "kubernetes", usable: true, version: gitVersion, disks: diskCount, isElsewhere: true },
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
