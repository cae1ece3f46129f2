import type { AgentSchemas } from "@cloud-sandbox/protocol";

/** What was kept of an output. */
export interface OutputText {
  readonly text: string;
  /** Bytes the program wrote. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** The file with the full output, when the text is truncated and the file could be written. */
  readonly file?: string;
}

/** How a program ended. */
export interface Termination {
  readonly reason: NonNullable<AgentSchemas["Outcome"]["termination_reason"]>;
  readonly exitCode: number;
}

export interface Outcome extends Termination {
  /** The execution's; undefined where nothing was started. */
  readonly id: string | undefined;
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

/** What a shell makes of a command that cannot be started: a result, not a refusal. */
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

/** The outcome as every answer about a program tells it. */
export function outcomeFields({ id, reason, exitCode, duration, stdout, stderr, contextLost }: Outcome) {
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
    ...(contextLost && { context_lost: true }),
    ...(stdout.file !== undefined && { stdout_file: stdout.file }),
    ...(stderr.file !== undefined && { stderr_file: stderr.file }),
  };
}

/** The first of each kind, beside the output. */
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

const isStructure = (value: RichOutput["data"]): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
