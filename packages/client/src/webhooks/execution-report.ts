import type { WebhookPayload } from "@cloud-sandbox/protocol";
import { date, hasFields, type RequiredFields } from "../transport/answer-fields.js";
import { WebhookVerificationError } from "./webhook-error.js";

/** A webhook's report about code started with `executeAsync`. */
export interface ExecutionReport {
  /** How the code ended. `completed` means exit code 0. */
  status: "completed" | "failed" | "timeout";
  executionId: string;
  /** Id of the sandbox in which the code ran. Undefined if the server does not say. */
  sandboxId: string | undefined;
  /**
   * Id of the report, the same for every delivery attempt: use it to ignore duplicates. Undefined if the server sends
   * none.
   */
  deliveryId: string | undefined;
  success: boolean;
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Run time in seconds. */
  executionTimeSeconds: number;
  /** Time at which the code ended. */
  endedAt: Date | undefined;
  /** When this attempt was sent. Not every server signs this time. */
  sentAt: Date | undefined;
  /** Why the code failed, if the cause was not the code itself. */
  error: string | undefined;
  terminationReason: string | undefined;
  /** Whether `stdout` was cut to its beginning and end. */
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
}

export interface ReportHeaders {
  deliveryId: string | undefined;
  sentAt: Date | undefined;
}

export function executionReport(body: Uint8Array, headers: ReportHeaders): ExecutionReport {
  const wire = parsed(body);
  return {
    ...headers,
    status: wire.status,
    executionId: wire.execution_id,
    sandboxId: wire.sandbox_id,
    success: wire.success ?? wire.status === "completed",
    stdout: wire.stdout,
    stderr: wire.stderr,
    exitCode: wire.exit_code,
    executionTimeSeconds: wire.execution_time,
    endedAt: date(wire.timestamp),
    error: wire.error,
    terminationReason: wire.termination_reason,
    stdoutTruncated: wire.stdout_truncated ?? false,
    stderrTruncated: wire.stderr_truncated ?? false,
  };
}

const payloadFields: RequiredFields = {
  execution_id: "string",
  status: "string",
  stdout: "string",
  stderr: "string",
  exit_code: "number",
  execution_time: "number",
  timestamp: "string",
};
const statuses: readonly unknown[] = ["completed", "failed", "timeout"];

function parsed(body: Uint8Array): WebhookPayload {
  const payload = json(body);
  if (hasFields(payload, payloadFields) && statuses.includes(payload.status))
    return payload as WebhookPayload;
  throw new WebhookVerificationError({
    summary: "The webhook's body is not a report of an execution.",
    hint: "Give this address to executeAsync() only.",
    code: "WEBHOOK_PAYLOAD_INVALID",
  });
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // The body is not JSON, so it is not a report.
    return undefined;
  }
}
