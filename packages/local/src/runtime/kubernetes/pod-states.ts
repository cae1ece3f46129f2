import type { V1Pod } from "@kubernetes/client-node";
import { type Cluster, reasonOf, statusOf } from "./cluster.js";
import { containerName } from "./pod.js";
import type { PodWatch } from "./pod-watch.js";

/** Reasons for which a container that waits will not start. */
const hopeless = new Set([
  ...["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"],
  ...["CreateContainerConfigError", "CreateContainerError", "RunContainerError"],
]);

/** Waits until the Pod has a node to run on. */
export function placedPod(pods: PodWatch, name: string, signal: AbortSignal): Promise<V1Pod> {
  return podThat(pods, name, signal, ({ spec }) => spec?.nodeName !== undefined);
}

/**
 * Waits until the sandbox's container is being started: the Pod has its address, and the agent is copied. The cluster reports up to a second
 * later that the container runs.
 */
export function startingPod(pods: PodWatch, name: string, signal: AbortSignal): Promise<V1Pod> {
  return podThat(pods, name, signal, (pod) => {
    if (isOver(pod)) return new Error(`The Pod ended before its sandbox started${endingMessage(pod)}`);
    return pod.status?.podIP !== undefined && isTrue(pod, "Initialized");
  });
}

/** Waits until the sandbox's container runs. Rejects when it cannot, with what the cluster says. */
export function runningPod(pods: PodWatch, name: string, signal: AbortSignal): Promise<V1Pod> {
  return podThat(pods, name, signal, (pod) => {
    if (isOver(pod)) return new Error(`The Pod ended before its sandbox started${endingMessage(pod)}`);
    return stateOf(pod)?.running !== undefined;
  });
}

/** Like `runningPod`, but a container that has already run and ended is no error. */
export function startedPod(pods: PodWatch, name: string, signal: AbortSignal): Promise<V1Pod> {
  return podThat(pods, name, signal, (pod) => {
    const { running, terminated } = stateOf(pod) ?? {};
    if (running ?? terminated) return true;
    return isOver(pod) && new Error(`The Pod ended before its sandbox started${endingMessage(pod)}`);
  });
}

/** Waits until the Pod has ended, successfully or not. */
export function endedPod(pods: PodWatch, name: string, signal: AbortSignal): Promise<V1Pod> {
  return podThat(pods, name, signal, isOver);
}

/** A Pod whose sandbox runs. Undefined if it has ended or is gone. */
export async function livingPod({ api, namespace }: Cluster, name: string): Promise<V1Pod | undefined> {
  try {
    const pod = await api.readNamespacedPod({ namespace, name });
    const isEnding = isOver(pod) || pod.metadata?.deletionTimestamp !== undefined;
    return isEnding || stateOf(pod)?.terminated ? undefined : pod;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Whether the cluster says that the Pod is ready. It is not if its node is lost. */
export const isReady = (pod: V1Pod): boolean => isTrue(pod, "Ready");

/** How a Pod ended, as the cluster tells. */
export interface PodEnding {
  /** Whether the cluster ended the Pod as a whole, as a node does that runs out of something. Otherwise its container ended. */
  readonly isOfPod: boolean;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly exitCode?: number | undefined;
}

/** How the Pod or its sandbox's container ended. Undefined if the cluster does not tell. */
export async function endingOf({ api, namespace }: Cluster, name: string): Promise<PodEnding | undefined> {
  const pod = await api.readNamespacedPod({ namespace, name }).catch(() => undefined);
  if (!pod) return undefined;
  const { reason, message } = pod.status ?? {};
  if (isOver(pod) && reason !== undefined) return { isOfPod: true, reason, message: message?.trim() };
  const ended = stateOf(pod)?.terminated;
  return ended && { ...ended, isOfPod: false };
}

/** Deletes a Pod at once. Does nothing if it is gone. */
export async function removePod({ api, namespace }: Cluster, name: string): Promise<void> {
  await api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 }).catch((error: unknown) => {
    if (statusOf(error) !== 404)
      throw new Error(`Kubernetes did not delete the Pod: ${reasonOf(error)}`, { cause: error });
  });
}

function podThat(
  pods: PodWatch,
  name: string,
  signal: AbortSignal,
  isWanted: (pod: V1Pod) => boolean | Error,
): Promise<V1Pod> {
  return new Promise((resolve, reject) => {
    let last: V1Pod | undefined;
    let stop = (): void => undefined;
    const settle = (result: V1Pod | Error): void => {
      stop();
      signal.removeEventListener("abort", onTimeout);
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    const onTimeout = (): void => settle(new Error(`The Pod did not start in time${endingMessage(last)}`));
    signal.addEventListener("abort", onTimeout);
    stop = pods.follow(name, (pod) => {
      last = pod ?? last;
      if (!pod) return settle(new Error("The Pod was deleted before it started."));
      const stuck = statuses(pod).find(({ state }) => hopeless.has(state?.waiting?.reason ?? ""));
      const { reason, message = reason } = stuck?.state?.waiting ?? {};
      if (stuck) return settle(new Error(`The Pod cannot start: ${message} (image ${stuck.image})`));
      const wanted = isWanted(pod);
      if (wanted) settle(wanted === true ? pod : wanted);
    });
    if (signal.aborted) onTimeout();
  });
}

const isTrue = ({ status }: V1Pod, type: "Initialized" | "Ready"): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;

const isOver = ({ status }: V1Pod): boolean => status?.phase === "Failed" || status?.phase === "Succeeded";

const stateOf = (pod: V1Pod) => statuses(pod).find(({ name }) => name === containerName)?.state;

const statuses = ({ status }: V1Pod) => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Returns the cluster's message about a Pod that does not run. */
function endingMessage(pod: V1Pod | undefined): string {
  const { conditions = [], message, reason } = pod?.status ?? {};
  // Returns why a container could not be started, as for a program that its image does not have.
  const ends = pod ? statuses(pod).map(({ state }) => state?.terminated?.message) : [];
  const unmet = conditions.find(({ status, message: text }) => status === "False" && text);
  const words = message ?? ends.find(Boolean) ?? unmet?.message ?? reason;
  return words === undefined ? "." : `: ${words}`;
}
