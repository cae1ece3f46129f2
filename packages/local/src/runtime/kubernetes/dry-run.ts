import { randomBytes } from "node:crypto";
import { loading, sandboxPod } from "./pod.js";
import type { PodKind } from "./pod-kind.js";
import type { PodMaker } from "./pod-maker.js";

/** Less than a sandbox has, for Pods with which the cluster is tried. */
export const trialLimits = { memoryMb: 128, diskMb: 16, vcpu: 1, maxProcesses: 32 };

/** Why the cluster would refuse a Pod of that kind. Undefined if it would take one, or cannot be asked. */
export function refusalOf(maker: PodMaker, kind: PodKind): Promise<string | undefined> {
  const server = randomBytes(8).toString("hex");
  const pod = { name: `cloud-sandbox-trial-${server}`, server, limits: trialLimits };
  return maker.refusal(sandboxPod({ ...kind, ...pod, command: loading, secretHash: "", waitMs: 0 }));
}
