import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { asText } from "../transport/answers/required-fields.js";

/**
 * Why a program ended: by itself (`exit`), over its time limit (`timeout`), over the sandbox's memory
 * (`out_of_memory`), on request (`killed`), by a signal (`signal`).
 */
export type TerminationReason = NonNullable<AgentSchemas["Outcome"]["termination_reason"]>;

/** How a program ended and what it wrote. */
export interface ProgramResult {
  /** Tells a result from the handle of a program that still runs, whose `kind` is `execution`. */
  kind: "result";
  /** `exitCode` is 0. */
  success: boolean;
  /** At most 1 MiB: where there was more, its head and tail. */
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Seconds. */
  executionTimeSeconds: number;
  /** Undefined where the server does not say. */
  terminationReason: TerminationReason | undefined;
  /** What `stdout` and `stderr` hold of everything that was written. */
  output: { stdout: OutputExtent; stderr: OutputExtent };
}

/** What is kept of an output, and what of it was cut. */
export interface OutputExtent {
  truncated: boolean;
  /** Bytes written in all; undefined where the server does not say. */
  bytes: number | undefined;
  /** Where the whole of it is kept in the sandbox, when it was truncated. */
  file: string | undefined;
}

/** How code ended. A program that fails is a result like any other. */
export interface ExecutionResult extends ProgramResult {
  language: string | undefined;
  /** The value of the last expression as text, where the language has one. */
  value: string | undefined;
  /** What the code displayed: figures, tables, HTML. */
  richOutputs: RichOutput[];
  /** The interpreter ended, now or since the execution before: the variables of its context are gone. */
  contextLost: boolean;
  /** With `cache`: whether it is the outcome of an earlier execution. */
  cached: boolean;
}

/** Something that code displayed. */
export interface RichOutput {
  /** A MIME type: `image/png`, `text/html`, `application/json`, `image/svg+xml`, `text/markdown`, … */
  type: string;
  /** base64 for images other than SVG, a JSON value for JSON, else text. */
  data: unknown;
}

/** How a command ended. */
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
    contextLost: wire.context_lost ?? false,
    cached: wire.cached ?? false,
  };
}

export function richOutput({ type, data }: AgentSchemas["RichOutput"]): RichOutput {
  return { type, data };
}

export function commandResult(wire: AgentSchemas["CommandResponse"]): CommandResult {
  return { ...programResult(wire), pid: wire.pid };
}

/** POST /execute puts the first output of each kind beside stdout. */
function flatOutputs({ png, html, svg, markdown, latex, json }: WireResult): RichOutput[] {
  const outputs: RichOutput[] = [];
  const add = (type: string, data: unknown): void => {
    if (data !== undefined && data !== null && data !== "") outputs.push({ type, data });
  };
  add("image/png", png);
  add("image/svg+xml", svg);
  add("text/html", html);
  add("text/markdown", markdown);
  add("text/latex", latex);
  add("application/json", json);
  return outputs;
}
