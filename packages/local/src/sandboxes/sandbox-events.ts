import type { EventType, NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { StoredEnd } from "../store/sandbox-repository.js";
import type { SandboxRecord } from "./sandbox-record.js";

type OfSandbox = Pick<SandboxRecord, "id" | "keyId" | "name">;

export const createdEvent = (sandbox: SandboxRecord): NewEvent =>
  event(sandbox, "sandbox.created", { template: sandbox.template.name });

export const endEvent = (sandbox: OfSandbox, end: StoredEnd["end"]): NewEvent =>
  event(sandbox, end === "expired" ? "sandbox.expired" : "sandbox.deleted");

/** What a change of a sandbox's status is called. Other changes are no events. */
export function statusEvents(
  sandbox: OfSandbox & Pick<SandboxRecord, "status">,
  change: Partial<Pick<SandboxRecord, "status" | "failureReason">>,
): readonly NewEvent[] {
  const { status } = change;
  if (status === undefined || status === sandbox.status || status === "creating") return [];
  if (status === "error") {
    const reason = change.failureReason;
    return [event(sandbox, "sandbox.failed", reason === undefined ? {} : { reason })];
  }
  if (status === "running")
    return [event(sandbox, sandbox.status === "paused" ? "sandbox.resumed" : "sandbox.started")];
  return [event(sandbox, status === "paused" ? "sandbox.paused" : "sandbox.stopped")];
}

function event(sandbox: OfSandbox, type: EventType, facts: NewEvent["facts"] = {}): NewEvent {
  const { id, keyId, name } = sandbox;
  return {
    type,
    at: new Date(),
    sandboxId: id,
    keyId,
    facts: { ...(name !== undefined && { name }), ...facts },
  };
}
