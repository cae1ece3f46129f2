/** The errors for a sandbox that cannot be used. */
import { ConflictError, SandboxError, ServerError } from "../errors/errors.js";
import type { SandboxRecord, SandboxStatus } from "./sandbox-record.js";

export function notRunning({ failureReason, id, status }: SandboxRecord): ConflictError {
  const hints: Partial<Record<SandboxStatus, string>> = {
    creating: "Try again in a moment.",
    stopped: "Give the option start: true to start it.",
  };
  return new ConflictError({
    summary: `Sandbox ${id} ${status === "error" ? "has failed" : `is ${word(status)}`}${because(failureReason)}.`,
    hint: hints[status] ?? "Create another sandbox.",
    code: "SANDBOX_NOT_RUNNING",
    retryable: status === "creating",
  });
}

export function noNames(): SandboxError {
  return new SandboxError({
    summary: "The server cannot find a sandbox by its name: it created another one.",
    hint: "Keep the id of a sandbox, and call connect(id).",
    code: "GET_OR_CREATE_UNAVAILABLE",
  });
}

export function failedToStart({ id, status, failureReason }: SandboxRecord): ServerError {
  return new ServerError({
    summary: `Sandbox ${id} did not start; its status is ${word(status)}${because(failureReason)}.`,
    hint: "Create another sandbox; if that keeps failing, report the sandbox's id to the server's operator.",
    code: "SANDBOX_FAILED",
    retryable: true,
  });
}

function because(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`;
}

/** The status, or "unknown" if it does not look like one: a server may send any text, even a secret it was sent. */
function word(status: string): string {
  return /^[a-z_]{1,30}$/.test(status) ? status : "unknown";
}
