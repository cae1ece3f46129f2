import type { EventType, NewEvent } from "@cloud-sandbox/server-kit/handlers";
import type { StoredEnd } from "../store/sandbox-repository.js";
import type { SandboxRecord } from "./sandbox-record.js";

type OfSandbox = Pick<SandboxRecord, "id" | "keyId" | "name">;

export const createdEvent = (sandbox: SandboxRecord): NewEvent =>
  sandboxEvent(sandbox, "sandbox.created", { template: sandbox.template.name });

export const endEvent = (sandbox: OfSandbox, end: StoredEnd["end"]): NewEvent =>
  sandboxEvent(sandbox, end === "expired" ? "sandbox.expired" : "sandbox.deleted");

/** What a change of a sandbox's status is called. Other changes are no events. */
export function statusEvents(
  sandbox: OfSandbox & Pick<SandboxRecord, "status">,
  change: Partial<Pick<SandboxRecord, "status" | "failureReason">>,
): readonly NewEvent[] {
  const { status } = change;
  if (status === undefined || status === sandbox.status || status === "creating") return [];
  if (status === "error") {
    const reason = change.failureReason;
    return [sandboxEvent(sandbox, "sandbox.failed", reason === undefined ? {} : { reason })];
  }
  if (status === "running")
    return [sandboxEvent(sandbox, sandbox.status === "paused" ? "sandbox.resumed" : "sandbox.started")];
  return [sandboxEvent(sandbox, status === "paused" ? "sandbox.paused" : "sandbox.stopped")];
}

export function sandboxEvent(sandbox: OfSandbox, type: EventType, facts: NewEvent["facts"] = {}): NewEvent {
  const { id, keyId, name } = sandbox;
  return {
    type,
    at: new Date(),
    sandboxId: id,
    keyId,
    facts: { ...(name !== undefined && { name }), ...facts },
  };
}
