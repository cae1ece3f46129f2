import {
  type EgressWish,
  type Idempotency,
  sandboxCreating,
  sandboxFailed,
  sandboxPaused,
  sandboxStopped,
} from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { IsolationLevel, Machine } from "../runtime/sandbox-runtime.js";

export type SandboxStatus = "creating" | "running" | "paused" | "stopped" | "error";

/** A sandbox that exists: from the moment its machine is its own until it is deleted or its deadline passes. */
export interface SandboxRecord {
  readonly id: string;
  readonly template: LocalTemplate;
  readonly isolation: IsolationLevel;
  readonly createdAt: Date;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly egress: EgressWish;
  /** The `Idempotency-Key` of its create, and what tells whether another request is the same. */
  readonly idempotency: Idempotency | undefined;
  /** None while it is stopped. */
  machine: Machine | undefined;
  /** `creating` also while a stopped one is started again. */
  status: SandboxStatus;
  /** Still `running`, but not for long: nothing new may begin in it. */
  isStopping: boolean;
  /** Seconds of life counted from when it was last set. */
  timeoutSeconds: number;
  expiresAt: Date;
  failureReason: string | undefined;
}

/** What has to be known of a sandbox to talk to its agent. */
export type ReachableSandbox = Pick<
  SandboxRecord,
  "id" | "status" | "machine" | "isStopping" | "failureReason"
>;

/** Where the sandbox's agent can be talked to now; throws what there is to say when it cannot. */
export function reachableMachine(sandbox: ReachableSandbox): Machine {
  const { id, status, machine, isStopping } = sandbox;
  if (status === "error") throw sandboxFailed(sandbox);
  if (status === "paused") throw sandboxPaused(id);
  if (status === "creating") throw sandboxCreating(id);
  if (isStopping || machine === undefined) throw sandboxStopped(id);
  return machine;
}
