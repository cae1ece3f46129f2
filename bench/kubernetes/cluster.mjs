import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { progress } from "../measure.mjs";
import { testModule } from "../test-module.mjs";

const { CoreV1Api, KubeConfig } = createRequire(
  new URL("../../packages/local/package.json", import.meta.url),
)("@kubernetes/client-node");
const {
  KUBECONFIG: kubeconfig,
  BENCH_KUBERNETES_IMAGE: image,
  BENCH_KUBERNETES_AGENT_IMAGE: agentImage,
} = process.env;

/** Calls `use` with the cluster that KUBECONFIG names, or else with one that is started for it. Without any, resolves with what is skipped. */
export async function withCluster(use) {
  if (kubeconfig && image && agentImage) return use(openCluster());
  progress("a cluster is started");
  const { startOwnCluster } = await testModule("support/kubernetes/own-cluster.ts");
  const { loadImageWithAgent } = await testModule("support/kubernetes/image-with-agent.ts");
  const { cluster: own, stop } = await startOwnCluster();
  if (own.missing !== undefined) return [{ name: "the kubernetes runtime", skipped: own.missing }];
  try {
    const imageWithAgent = await loadImageWithAgent(own.directory);
    return await use(openCluster({ ...own, imageWithAgent, direct: await directAccess(own.kubeconfig) }));
  } finally {
    await stop();
  }
}

/**
 * `direct`: a kubeconfig with which a server on this machine reaches Pods at their addresses. Undefined if it cannot. `imageWithAgent`: an image
 * for sandboxes that has the agent, so that no Pod copies it.
 */
export function openCluster(place = { kubeconfig, image, agentImage }) {
  const config = new KubeConfig();
  config.loadFromFile(place.kubeconfig);
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace ?? "default";
  // The rights of servers are not enough to remove what the bench makes.
  if (place.admin) config.loadFromFile(place.admin);
  const api = config.makeApiClient(CoreV1Api);
  const { imageWithAgent } = place;
  const direct = { ...place, kubeconfig: place.direct };
  return {
    ...{ api, namespace, options: optionsOf(place) },
    directOptions: place.direct && optionsOf(direct),
    optionsWithAgent:
      imageWithAgent && optionsOf({ ...direct, image: imageWithAgent, agentImage: imageWithAgent }),
    startPod: () => startPod(api, namespace, place.image),
  };
}

function optionsOf({ kubeconfig, image, agentImage }) {
  return [
    ...["--runtime", "kubernetes", "--kubernetes-open-network", "--kubeconfig", kubeconfig],
    ...["--kubernetes-image", image, "--kubernetes-agent-image", agentImage],
  ];
}

/**
 * Writes a kubeconfig that a server takes for the one of its Pod. The Pods of the tests' cluster are in a network of this machine, so a server
 * here reaches them as one in a Pod does.
 */
async function directAccess(path) {
  const config = JSON.parse(await readFile(path, "utf8"));
  const [context] = config.contexts;
  context.name = config["current-context"] = "inClusterContext";
  await writeFile(`${path}-direct`, JSON.stringify(config), { mode: 0o600 });
  return `${path}-direct`;
}

/** Starts a Pod that only sleeps. Resolves when it is ready, with a function that removes it. */
async function startPod(api, namespace, image) {
  const name = `bench-${randomBytes(6).toString("hex")}`;
  const sleeper = { name: "sleep", image, imagePullPolicy: "IfNotPresent", command: ["sleep", "600"] };
  const spec = {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [{ ...sleeper, volumeMounts: [{ name: "workspace", mountPath: "/workspace" }] }],
    volumes: [{ name: "workspace", emptyDir: {} }],
  };
  await api.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
  for (;;) {
    const { status } = await api.readNamespacedPod({ namespace, name });
    if (status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")) break;
    await sleep(20);
  }
  return () => api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
}
