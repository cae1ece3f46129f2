import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { date } from "../transport/answers/date.js";
import type { TerminationReason } from "./execution-result.js";

/** `completed` is an exit code of 0, `failed` every other end that was not a `killed`. */
export type ExecutionStatus = "running" | "completed" | "failed" | "killed";

/** What is known of a program that runs in the background, or did. */
export interface ExecutionState {
  id: string;
  status: ExecutionStatus;
  /** The name it was given. */
  name: string | undefined;
  language: string | undefined;
  startedAt: Date | undefined;
  /** Undefined while it runs. */
  endedAt: Date | undefined;
  /** Undefined while it runs. */
  exitCode: number | undefined;
  /** Undefined while it runs, and where the server does not say. */
  terminationReason: TerminationReason | undefined;
  /** Seconds so far, or in all. */
  durationSeconds: number | undefined;
  /** Why it ended, where that is no doing of its own. */
  error: string | undefined;
}

/** How a program in the background ended. */
export interface ExecutionEnd {
  status: Exclude<ExecutionStatus, "running">;
  /** `exitCode` is 0. */
  success: boolean;
  exitCode: number | undefined;
  terminationReason: TerminationReason | undefined;
  /** Seconds. */
  durationSeconds: number | undefined;
  error: string | undefined;
}

export function executionState(wire: AgentSchemas["ProcessInfo"]): ExecutionState {
  return {
    id: wire.process_id ?? wire.execution_id ?? "",
    status: executionStatus(wire.status),
    name: wire.name,
    language: wire.language,
    startedAt: date(wire.start_time ?? wire.started_at),
    endedAt: date(wire.end_time ?? wire.completed_at),
    exitCode: wire.exit_code,
    terminationReason: wire.termination_reason,
    durationSeconds: wire.duration,
    error: wire.error,
  };
}

/** Whatever else a server calls it, what has not ended runs. */
export function executionStatus(wire: string | undefined): ExecutionStatus {
  if (wire === "completed" || wire === "failed" || wire === "killed") return wire;
  return wire === "timeout" ? "failed" : "running";
}
