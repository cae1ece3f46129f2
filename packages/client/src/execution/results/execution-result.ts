import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { asText } from "../../transport/answer-fields.js";
import { DisplayedValue } from "./displayed-value.js";

/**
 * Why a program ended: by itself (`exit`), at its time limit (`timeout`), for lack of memory in the sandbox
 * (`out_of_memory`), on request (`killed`), by a signal (`signal`).
 */
export type TerminationReason = NonNullable<AgentSchemas["Outcome"]["termination_reason"]>;

/** The result of a program: how it ended and what it wrote. */
export interface ProgramResult {
  /** `result`, in contrast to the handle of a running program, whose `kind` is `execution`. */
  kind: "result";
  /** Whether `exitCode` is 0. */
  success: boolean;
  /** Standard output, at most 1 MiB: of longer output, the beginning and the end. */
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Run time in seconds. */
  executionTimeSeconds: number;
  /** Why the program ended; undefined if the server does not say. */
  terminationReason: TerminationReason | undefined;
  /** Whether `stdout` and `stderr` are complete, and where to find the rest. */
  output: { stdout: OutputExtent; stderr: OutputExtent };
}

/** Size of an output stream, and whether it was cut. */
export interface OutputExtent {
  truncated: boolean;
  /** Bytes written in all; undefined if the server does not say. */
  bytes: number | undefined;
  /** Path of the file in the sandbox that has the complete output, if it was cut. */
  file: string | undefined;
}

/** An exception that code did not catch. Each text is at most 64 KiB, the rest is cut off. */
export interface ExecutionError {
  /** Name of its class, such as `ValueError`. */
  name: string;
  /** Its message. */
  value: string;
  /** What the code wrote to its standard error about it: where it was thrown, and by which calls. */
  traceback: string;
}

/** The result of code. Code that fails has a result too. */
export interface ExecutionResult extends ProgramResult {
  language: string | undefined;
  /** The value of the last expression as text, if the language has one. */
  value: string | undefined;
  /** All values that the code displayed, in order: plots, tables, HTML. At most 64 and 8 MiB. */
  richOutputs: DisplayedValue[];
  /** Number of displayed values left out because there were too many or they were too large. */
  richOutputsDropped: number;
  /** The exception that ended Python or JavaScript code; undefined if there is none, or if the server does not say. */
  error: ExecutionError | undefined;
  /**
   * Whether the context's variables are lost, because its interpreter ended during this execution or since the previous
   * one.
   */
  contextLost: boolean;
  /** With the option `cache`: whether this is the result of an earlier execution. */
  cached: boolean;
}

/** The result of a command. */
export interface CommandResult extends ProgramResult {
  pid: number | undefined;
}

type WireResult = AgentSchemas["ExecuteRichResponse"];
type WireProgram = AgentSchemas["ExecuteResponse"] | AgentSchemas["CommandResponse"];

export function programResult(wire: WireProgram): ProgramResult {
  return {
    kind: "result",
    success: wire.exit_code === 0,
    stdout: asText(wire.stdout ?? ""),
    stderr: asText(wire.stderr ?? ""),
    exitCode: wire.exit_code,
    executionTimeSeconds: wire.execution_time ?? 0,
    terminationReason: wire.termination_reason,
    output: {
      stdout: { truncated: wire.stdout_truncated ?? false, bytes: wire.stdout_bytes, file: wire.stdout_file },
      stderr: { truncated: wire.stderr_truncated ?? false, bytes: wire.stderr_bytes, file: wire.stderr_file },
    },
  };
}

export function executionResult(wire: WireResult): ExecutionResult {
  return {
    ...programResult(wire),
    language: wire.language,
    value: wire.result,
    richOutputs: wire.rich_outputs?.map(richOutput) ?? flatOutputs(wire),
    richOutputsDropped: wire.rich_outputs_dropped ?? 0,
    error: wire.exception,
    contextLost: wire.context_lost ?? false,
    cached: wire.cached ?? false,
  };
}

export function richOutput({ type, data }: AgentSchemas["RichOutput"]): DisplayedValue {
  return DisplayedValue.of({ type, data });
}

export function commandResult(wire: AgentSchemas["CommandResponse"]): CommandResult {
  return { ...programResult(wire), pid: wire.pid };
}

/** Reads displayed values from the separate fields of a POST /execute answer, which has the first of each type. */
function flatOutputs({ png, html, svg, markdown, latex, json }: WireResult): DisplayedValue[] {
  const outputs: DisplayedValue[] = [];
  const add = (type: string, data: unknown): void => {
    if (data !== undefined && data !== null && data !== "") outputs.push(DisplayedValue.of({ type, data }));
  };
  add("image/png", png);
  add("image/svg+xml", svg);
  add("text/html", html);
  add("text/markdown", markdown);
  add("text/latex", latex);
  add("application/json", json);
  return outputs;
}
