import type { AgentSchemas } from "@cloud-sandbox/protocol";

/** The part of an output that is returned to the caller. */
export interface OutputText {
  readonly text: string;
  /** Number of bytes the program wrote. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** Path of the file with the output, if the text is truncated and the file could be written. */
  readonly file?: string;
}

/** Why and with which exit code a program ended. */
export interface Termination {
  readonly reason: NonNullable<AgentSchemas["Outcome"]["termination_reason"]>;
  readonly exitCode: number;
}

export interface Outcome extends Termination {
  /** Id of the execution. Undefined if nothing was started. */
  readonly id: string | undefined;
  readonly pid: number | undefined;
  /** Duration in seconds. */
  readonly duration: number;
  readonly stdout: OutputText;
  readonly stderr: OutputText;
  /** Value of the code's last expression as text, if it has one. */
  readonly result?: string;
  /** Values that the code displayed, in order. */
  readonly displays?: readonly RichOutput[];
  /** Number of displayed values that were left out because they were too many or too large. */
  readonly displaysDropped?: number;
  /** The exception that ended the code, if an interpreter reported one. */
  readonly exception?: AgentSchemas["CodeException"] | undefined;
  /** The interpreter that ran the code has ended, and all variables of the context are lost. */
  readonly contextLost?: boolean;
}

/**
 * The outcome of a command that could not be started. As in a shell, that is a result with an exit code, not a
 * refused request.
 */
export function notStarted(message: string, exitCode: number): Outcome {
  const text = `${message}\n`;
  return {
    id: undefined,
    reason: "exit",
    exitCode,
    pid: undefined,
    duration: 0,
    stdout: { text: "", bytes: 0, truncated: false },
    stderr: { text, bytes: new TextEncoder().encode(text).length, truncated: false },
  };
}

export type RichOutput = AgentSchemas["RichOutput"];

/** The fields for an outcome that every answer about a program contains. */
export function outcomeFields({
  id,
  reason,
  exitCode,
  duration,
  stdout,
  stderr,
  exception,
  contextLost,
}: Outcome) {
  return {
    ...(id !== undefined && { execution_id: id }),
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
    ...(exception && { exception }),
    ...(contextLost && { context_lost: true }),
    ...(stdout.file !== undefined && { stdout_file: stdout.file }),
    ...(stderr.file !== undefined && { stderr_file: stderr.file }),
  };
}

/** The last expression's value and the first displayed value of each type, as fields of their own. */
export function valueFields({ result, displays = [], displaysDropped }: Outcome) {
  const first = (type: string) => displays.find((output) => output.type === type)?.data;
  const text = (name: string, type: string) => {
    const data = first(type);
    return typeof data === "string" ? { [name]: data } : {};
  };
  const json = first("application/json");
  return {
    ...(result !== undefined && { result }),
    ...text("png", "image/png"),
    ...text("html", "text/html"),
    ...text("svg", "image/svg+xml"),
    ...text("markdown", "text/markdown"),
    ...text("latex", "text/latex"),
    ...(isStructure(json) && { json }),
    ...(displaysDropped !== undefined && { rich_outputs_dropped: displaysDropped }),
  };
}

/** Everything that the code displayed, or nothing if the caller does not want it. */
export const richFields = ({ displays = [] }: Outcome, isWanted: boolean) => ({
  rich_outputs: isWanted ? [...displays] : [],
});

const isStructure = (value: RichOutput["data"]): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
