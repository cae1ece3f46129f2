import type { V1Pod } from "@kubernetes/client-node";
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
