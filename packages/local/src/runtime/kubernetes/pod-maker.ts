import { randomBytes } from "node:crypto";
import type { V1Pod } from "@kubernetes/client-node";
import { defaultImage } from "../container/paths.js";
import type { KubernetesOptions } from "../runtime-options.js";
import { loading, type PodParts, placementOf, sandboxPod } from "./pod.js";
import type { PodWatch } from "./pod-watch.js";

/** Makes the Pods of sandboxes, and removes them. */
export interface PodMaker {
  /** Makes a Pod. Resolves when it exists, but may not run yet. Rejects with what the cluster says. */
  create(pod: V1Pod, pods: PodWatch): Promise<void>;
  /** Why the cluster would refuse a Pod. Undefined if it would take it, or cannot be asked. Makes nothing. */
  refusal(pod: V1Pod): Promise<string | undefined>;
  /** Removes a Pod at once, with what made it. Does nothing if there is none. */
  remove(name: string): Promise<void>;
  /**
   * Names of Pods that have ended, or that have not started for long. A Pod ends by itself when its server stays away, so one that
   * runs has a server, or still waits for the next one.
   */
  orphans(): Promise<string[]>;
  /** Why a Pod that an earlier server has left is not for this maker to remove. Undefined if it is. */
  objection(pod: V1Pod): string | undefined;
}

/** The image with the agent unless another is named. */
const defaultAgentImage = "cloud-sandbox-agent:latest";

/** Settings of a template's Pods that may differ from those of other templates. */
export type PodKind = Pick<PodParts, "image" | "agentImage" | "runtimeClass" | "placement">;

/** The Pods of a template, which is an image or has the first one, unless it is told to have another. */
export function podKind(kubernetes: KubernetesOptions, template: string, own?: string): PodKind {
  const { images = [], agentImage = defaultAgentImage, runtimeClass, placement = {} } = kubernetes;
  const image = own ?? (images.includes(template) ? template : (images[0] ?? defaultImage));
  return {
    image,
    agentImage,
    runtimeClass: runtimeClass?.name,
    placement: placementOf(placement, template, image),
  };
}

/** Less than a sandbox has, for Pods with which the cluster is tried. */
export const trialLimits = { memoryMb: 128, diskMb: 16, vcpu: 1, maxProcesses: 32 };

/** Why the cluster would refuse a Pod of that kind. Undefined if it would take one, or cannot be asked. */
export function refusalOf(maker: PodMaker, kind: PodKind): Promise<string | undefined> {
  const server = randomBytes(8).toString("hex");
  const pod = { name: `cloud-sandbox-trial-${server}`, server, limits: trialLimits };
  return maker.refusal(sandboxPod({ ...kind, ...pod, command: loading, secretHash: "", waitMs: 0 }));
}
