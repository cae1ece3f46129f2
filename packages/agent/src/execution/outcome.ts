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
  /** The last expression's value as text, where the code has one. */
  readonly result?: string;
  /** What the code displayed, in order. */
  readonly displays?: readonly RichOutput[];
  /** Displayed values that were too many or too large. */
  readonly displaysDropped?: number;
  /** The interpreter that the code ran in is gone, with all variables. */
  readonly contextLost?: boolean;
}

export type RichOutput = AgentSchemas["RichOutput"];

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

/** `text` with `line` as a line of its own behind it. */
export const withLine = (text: string, line: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;

/** The outcome as every answer about a program tells it. */
export function outcomeFields({ reason, exitCode, duration, stdout, stderr, contextLost }: Outcome) {
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
    ...(contextLost && { context_lost: true }),
    ...(stdout.file !== undefined && { stdout_file: stdout.file }),
    ...(stderr.file !== undefined && { stderr_file: stderr.file }),
  };
}
