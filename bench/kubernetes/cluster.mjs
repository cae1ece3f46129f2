import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const { CoreV1Api, KubeConfig } = createRequire(
  new URL("../../packages/local/package.json", import.meta.url),
)("@kubernetes/client-node");
const {
  KUBECONFIG: kubeconfig,
  BENCH_KUBERNETES_IMAGE: image,
  BENCH_KUBERNETES_AGENT_IMAGE: agentImage,
} = process.env;

/** Why nothing can be measured here. Undefined if it can. */
export async function clusterObstacle() {
  if (!kubeconfig || !image || !agentImage)
    return "KUBECONFIG, BENCH_KUBERNETES_IMAGE and BENCH_KUBERNETES_AGENT_IMAGE name no cluster and its images";
  const { api, namespace } = openCluster();
  return api.listNamespacedPod({ namespace, limit: 1 }).then(
    () => undefined,
    (error) => `the cluster of ${kubeconfig} does not answer: ${error.message}`,
  );
}

export function openCluster() {
  const config = new KubeConfig();
  config.loadFromDefault();
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace ?? "default";
  const api = config.makeApiClient(CoreV1Api);
  const images = ["--kubernetes-image", image, "--kubernetes-agent-image", agentImage];
  const options = ["--runtime", "kubernetes", "--kubernetes-open-network", ...images];
  return { api, namespace, options, startPod: () => startPod(api, namespace) };
}

/** Starts a Pod that only sleeps. Resolves when it is ready, with a function that removes it. */
async function startPod(api, namespace) {
  const name = `bench-${randomBytes(6).toString("hex")}`;
  const container = { name: "sleep", image, imagePullPolicy: "IfNotPresent", command: ["sleep", "600"] };
  const spec = {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [container],
  };
  await api.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
  for (;;) {
    const { status } = await api.readNamespacedPodStatus({ namespace, name });
    if (status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")) break;
    await sleep(20);
  }
  return () => api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
}
