import { constants } from "node:os";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { Intervention } from "./execution-watch.js";
import type { OutputText } from "./kept-output.js";

/** How a program ended. */
export interface Termination {
  readonly reason: NonNullable<AgentSchemas["Outcome"]["termination_reason"]>;
  readonly exitCode: number;
}

export interface Outcome extends Termination {
  readonly pid: number | undefined;
  /** Seconds. */
  readonly duration: number;
  readonly stdout: OutputText;
  readonly stderr: OutputText;
}

export function termination(
  code: number | null,
  signal: NodeJS.Signals | null,
  intervention: Intervention,
  outOfMemory: boolean,
): Termination {
  if (intervention === "timeout") return { reason: "timeout", exitCode: 124 };
  if (intervention === "killed") return { reason: "killed", exitCode: 137 };
  if (outOfMemory) return { reason: "out_of_memory", exitCode: 137 };
  if (signal !== null) return { reason: "signal", exitCode: 128 + constants.signals[signal] };
  return { reason: "exit", exitCode: code ?? 1 };
}

/** The outcome as every answer about a program tells it. */
export function outcomeFields({ reason, exitCode, duration, stdout, stderr }: Outcome) {
  return {
    success: exitCode === 0,
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: exitCode,
    execution_time: duration,
    timestamp: new Date().toISOString(),
    termination_reason: reason,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    stdout_truncated: stdout.truncated,
    stderr_truncated: stderr.truncated,
    ...(stdout.file !== undefined && { stdout_file: stdout.file }),
    ...(stderr.file !== undefined && { stderr_file: stderr.file }),
  };
}
