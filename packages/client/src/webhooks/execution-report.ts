import type { WebhookPayload } from "@cloud-sandbox/protocol";
import { date } from "../transport/answers/date.js";
import { hasFields, type RequiredFields } from "../transport/answers/required-fields.js";
import { WebhookVerificationError } from "./webhook-error.js";

/** What a webhook tells about code that `executeAsync` started. */
export interface ExecutionReport {
  /** `completed` is an exit code of 0. */
  status: "completed" | "failed" | "timeout";
  executionId: string;
  /** Undefined where the server does not say. */
  sandboxId: string | undefined;
  /** The same for every attempt of one report: who has seen it has been told already. Undefined where the server has none. */
  deliveryId: string | undefined;
  success: boolean;
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Seconds. */
  executionTimeSeconds: number;
  /** When the code ended. */
  endedAt: Date | undefined;
  /** When this attempt was sent; not signed by every server. */
  sentAt: Date | undefined;
  /** Why it failed, where that is no doing of the code. */
  error: string | undefined;
  terminationReason: string | undefined;
  /** Whether `stdout` and `stderr` have beginning and end only. */
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
    summary: "The webhook's body is no report of an execution.",
    hint: "Give this address to executeAsync() only.",
    code: "WEBHOOK_PAYLOAD_INVALID",
  });
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // What is no JSON is no report.
    return undefined;
  }
}
