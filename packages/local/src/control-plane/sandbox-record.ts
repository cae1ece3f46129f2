import type { SandboxEgressWish } from "../egress/egress-wish.js";
import type { IsolationLevel, Machine } from "../runtime/sandbox-runtime.js";
import type { LocalTemplate } from "./template-catalogue.js";

export type SandboxStatus = "running" | "paused" | "error";

/** A sandbox that exists: from the moment its machine is its own until it is deleted or its deadline passes. */
export interface SandboxRecord {
  readonly id: string;
  readonly template: LocalTemplate;
  readonly machine: Machine;
  readonly isolation: IsolationLevel;
  readonly createdAt: Date;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly egress: SandboxEgressWish;
  status: SandboxStatus;
  /** Seconds of life counted from when it was last set. */
  timeoutSeconds: number;
  expiresAt: Date;
  failureReason: string | undefined;
}

/** What is remembered of a sandbox that is gone, so that asking for it says why. */
export interface EndedSandbox {
  readonly id: string;
  readonly end: "deleted" | "expired";
  readonly createdAt: Date;
  readonly expiresAt: Date;
}
