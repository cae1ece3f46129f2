import { Problem } from "@cloud-sandbox/server-kit";
import {
  type Idempotency,
  isAsleep,
  type RequestedEgress,
  type SleepSettings,
  type StopReason,
  sandboxCreating,
  sandboxFailed,
  sandboxPaused,
  sandboxStopped,
} from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "../catalogue/template-catalogue.js";
import type { Secret } from "../egress/secrets/secret.js";
import type { IsolationLevel, Machine } from "../runtime/sandbox-runtime.js";
import type { SandboxMount } from "../store/sandbox-repository.js";

export type SandboxStatus = "creating" | "running" | "paused" | "stopped" | "error";

/** An existing sandbox: from the moment it gets a machine until it is deleted or expires. */
export interface SandboxRecord {
  readonly id: string;
  readonly template: LocalTemplate;
  readonly isolation: IsolationLevel;
  readonly createdAt: Date;
  readonly name: string | undefined;
  metadata: Readonly<Record<string, string>>;
  egress: RequestedEgress;
  /** What it mounts, each time its machine starts. */
  readonly mounted: readonly SandboxMount[];
  /** Its secrets. Undefined if it was created without: its programs do not trust the egress proxy. */
  secrets?: readonly Secret[] | undefined;
  /** Tells the authority that its programs trust from others. Undefined if it was created without secrets. */
  authority?: string | undefined;
  /** The `Idempotency-Key` of the create request, and a digest of that request. */
  readonly idempotency: Idempotency | undefined;
  /** Id of the API key that created the sandbox. Undefined for the server's own key. */
  readonly keyId: string | undefined;
  /** The sandbox's machine. Undefined while the sandbox is stopped. */
  machine: Machine | undefined;
  /** The sandbox's status. `creating` also while a stopped sandbox is being started again. */
  status: SandboxStatus;
  /** True while the sandbox is being stopped. Its status is still `running`, but new requests are refused. */
  isStopping: boolean;
  /** The sandbox's lifetime in seconds, counted from when it was last set. */
  timeoutSeconds: number;
  expiresAt: Date;
  failureReason: string | undefined;
  sleep: SleepSettings;
  /** Why the sandbox sleeps. Undefined if it does not, and for one that an earlier release stopped or paused. */
  stopReason: StopReason | undefined;
  /** Links to its ports and files that were made until then are revoked. */
  linksRevokedAt?: Date | undefined;
  /** How often another machine took the place of its machine. Tells them apart. Default: 0. */
  restores?: number | undefined;
}

/** The fields of a sandbox that decide whether its agent can be called. */
export type ReachableSandbox = Pick<
  SandboxRecord,
  "id" | "status" | "machine" | "isStopping" | "failureReason" | "sleep"
>;

/** The machine of a sandbox whose agent can be called now; throws the problem that says why it cannot. */
export function reachableMachine(sandbox: ReachableSandbox): Machine {
  const { id, status, machine, isStopping } = sandbox;
  if (status === "error") throw sandboxFailed(sandbox);
  if (status === "paused") throw sandboxPaused(id);
  if (status === "creating") throw sandboxCreating(id);
  if (isStopping || machine === undefined) throw sandboxStopped(id);
  return machine;
}

/** Whether a sandbox sleeps, or is about to. */
export const isSleeping = ({ status, machine, isStopping }: ReachableSandbox): boolean =>
  isAsleep(status) || isStopping || status === "creating" || machine?.isPaused === true;

/** Freezes a machine, or lets it go on, as its sandbox is. The last control plane may have ended between a step and its record. */
export async function asRecorded({ status }: SandboxRecord, machine: Machine): Promise<Machine> {
  try {
    await (status === "paused" ? machine.pause() : machine.resume());
    return machine;
  } catch (error) {
    await machine.destroy();
    throw error;
  }
}

/** Why a server has no place for files of sandboxes. */
export const withoutFiles =
  "this server keeps its records in the cluster, and has no place for files of sandboxes";

/** The refusal to stop a sandbox of a server that has no place for its files. */
export const cannotStop = (id: string): Problem =>
  new Problem(409, "CONFLICT", `Sandbox ${id} cannot be stopped: ${withoutFiles}.`, {
    hint: "Let the sandbox run until its deadline, or delete it.",
  });

/** Throws a 400 problem if the settings ask for something that this server cannot do. */
export function requireSleepPossible(
  { onTimeout, idleTimeoutSeconds }: SleepSettings,
  { keepsFiles, withoutPause }: { readonly keepsFiles: boolean; readonly withoutPause: string | undefined },
): void {
  const sleeps = onTimeout !== "delete" || idleTimeoutSeconds !== undefined;
  const lack =
    onTimeout === "pause"
      ? withoutPause && `cannot be paused: ${withoutPause}`
      : keepsFiles
        ? undefined
        : `cannot be stopped: ${withoutFiles}`;
  if (!sleeps || !lack) return;
  throw new Problem(400, "INVALID_REQUEST", `A sandbox of this server ${lack}.`, {
    hint: "Leave on_timeout and idle_timeout_seconds out, or use another server.",
  });
}

export const hasFailed = ({ status }: SandboxRecord): boolean => status === "error";

/** The key under which a name is reserved: each API key has its own names. An id contains no blank. */
export const nameOfKey = (name: string, keyId = ""): string => `${keyId} ${name}`;
