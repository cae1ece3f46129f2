import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { date } from "../../transport/answer-fields.js";
import type { TerminationReason } from "./execution-result.js";

/** `completed`: the exit code is 0. `killed`: killed on request. `failed`: every other end. */
export type ExecutionStatus = "running" | "completed" | "failed" | "killed";

/** State of a program in the background, running or ended. */
export interface ExecutionState {
  id: string;
  status: ExecutionStatus;
  /** The name given when the program was started. */
  name: string | undefined;
  language: string | undefined;
  startedAt: Date | undefined;
  /** When the program ended; undefined while it runs. */
  endedAt: Date | undefined;
  /** Exit code; undefined while the program runs. */
  exitCode: number | undefined;
  /** Why the program ended. Undefined while it runs, or if the server does not say. */
  terminationReason: TerminationReason | undefined;
  /** Seconds that the program has run so far, or ran in all. */
  durationSeconds: number | undefined;
  /** Why the program ended, if the cause was not the program itself. */
  error: string | undefined;
}

/** How a program in the background ended. */
export interface ExecutionEnd {
  status: Exclude<ExecutionStatus, "running">;
  /** Whether `exitCode` is 0. */
  success: boolean;
  exitCode: number | undefined;
  terminationReason: TerminationReason | undefined;
  /** Run time in seconds. */
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

/** Maps a wire status. Any status that is not a known end counts as `running`. */
export function executionStatus(wire: string | undefined): ExecutionStatus {
  if (wire === "completed" || wire === "failed" || wire === "killed") return wire;
  return wire === "timeout" ? "failed" : "running";
}
