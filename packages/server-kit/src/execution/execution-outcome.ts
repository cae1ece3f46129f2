import { constants } from "node:os";
import { limits } from "@cloud-sandbox/protocol/limits";
import type { Outcome, OutputText, RichOutput, Termination } from "../handlers/agent/outcome.js";
import type { Frame } from "./control-channel.js";

/** The end of a program, and its output. */
export interface EndedProgram {
  readonly id: string;
  readonly pid: number | undefined;
  /** Time at which the program was started, by `performance.now()`. */
  readonly began: number;
  readonly endedAt: number;
  readonly exitCode: number | null;
  readonly killer: NodeJS.Signals | null;
  readonly intervention: Intervention;
  /** Whether the kernel killed processes because memory ran out. Read only for a program that was killed. */
  readonly ranOutOfMemory: () => Promise<boolean>;
  /** The sandbox's memory limit in MB, for messages. */
  readonly memoryMb: number | undefined;
  /** Reads the output. Called after everything else, when nothing is written any more. */
  readonly output: () => Promise<readonly [stdout: OutputText, stderr: OutputText]>;
}

/** Code that an interpreter's driver ran. */
export interface EndedCode extends EndedProgram {
  readonly values: DisplayedValues;
  /** Number of displayed values that the driver left out. */
  readonly dropped: number;
  /** Lines to append to the standard error: what the server has to say about how the code ended. */
  readonly notes: readonly string[];
}

/** The outcome of a program. */
export async function programOutcome(ended: EndedProgram): Promise<Outcome> {
  return assembled(ended, () => []);
}

/** The outcome of code, with the values that it displayed. */
export async function codeOutcome({ values, dropped, notes, ...ended }: EndedCode): Promise<Outcome> {
  const outcome = await assembled(ended, () => {
    const { displaysDropped } = values.fields(dropped);
    return [...(displaysDropped ? [droppedMessage(displaysDropped)] : []), ...notes];
  });
  return { ...outcome, ...values.fields(dropped) };
}

async function assembled(ended: EndedProgram, notes: () => readonly string[]): Promise<Outcome> {
  const { id, pid, began, endedAt, exitCode, killer, intervention, memoryMb } = ended;
  const wasKilled = killer === "SIGKILL" || exitCode === 137;
  const outOfMemory = wasKilled && (await ended.ranOutOfMemory());
  const [stdout, stderr] = await ended.output();
  const end = termination(exitCode, killer, intervention, outOfMemory);
  const lines = [...(end.reason === "out_of_memory" ? [memoryMessage(memoryMb)] : []), ...notes()];
  return {
    id,
    ...end,
    pid,
    duration: Math.round((endedAt - began) * 1000) / 1e6,
    stdout,
    stderr: { ...stderr, text: lines.reduce(withLine, stderr.text) },
  };
}

/** The error for code that wrote to the channel on which its interpreter's driver reports. */
export const strayReportMessage =
  "The code was killed, because it wrote to file descriptor 3, on which its interpreter reports. Use another descriptor.";

const droppedMessage = (count: number) =>
  `${count} displayed ${count === 1 ? "value was" : "values were"} left out: too many, or too large.`;

function memoryMessage(memoryMb: number | undefined): string {
  const limit = memoryMb === undefined ? "" : ` of ${memoryMb} MB`;
  return `Out of memory: the program went over the sandbox's limit${limit} and was killed.`;
}

/** Why a program was ended; undefined if it ended by itself. */
export type Intervention = "timeout" | "killed" | undefined;

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

/** Appends `line` to `text` as a separate line. */
export const withLine = (text: string, line: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;

/** The end of an execution, as the interpreter's driver reports it. */
export interface ReportedEnd {
  readonly exitCode: number;
  /** Number of displayed values that the driver left out. */
  readonly dropped: number;
}

/**
 * The meaning of one frame. `refused`: the working directory cannot be used. `unconnected`: the pipes cannot be opened.
 */
export type Reported =
  | { readonly what: "started" | "unconnected" | "value" }
  | { readonly what: "refused"; readonly reason: string }
  | { readonly what: "ended"; readonly end: ReportedEnd };

/** Reads a driver's frames about one execution. */
export class ExecutionReport {
  readonly values = new DisplayedValues();
  isStarted = false;

  /**
   * Handles a frame. Undefined if the driver cannot have sent this frame at this point: then code in the sandbox wrote
   * the frame, and nothing on this channel can be trusted any more.
   */
  take({ kind, payload }: Frame): Reported | undefined {
    if (!this.isStarted) return this.#beginning(kind, payload);
    if (kind === "D") this.values.display(payload);
    else if (kind === "R") this.values.result(payload);
    else if (kind === "X") this.values.exception(payload);
    else if (kind === "E") return { what: "ended", end: reportedEnd(payload) };
    else return undefined;
    return { what: "value" };
  }

  #beginning(kind: string, payload: Buffer): Reported | undefined {
    if (kind === "F") return { what: "refused", reason: payload.toString() };
    if (kind === "P") return { what: "unconnected" };
    if (kind !== "S") return undefined;
    this.isStarted = true;
    return { what: "started" };
  }
}

function reportedEnd(payload: Buffer): ReportedEnd {
  const [code = 0, dropped = 0] = payload.toString().split(" ").map(Number);
  return { exitCode: code & 0xff, dropped: Number.isSafeInteger(dropped) ? dropped : 0 };
}

const {
  displayedBytes: mostBytes,
  displayedValues: mostValues,
  exceptionCharacters: longestException,
} = limits;
const longestResult = 4 * 1024 * 1024;

/**
 * The values that an execution displayed, its result and its exception, as a driver reports them. Their number and size
 * are limited; further values are only counted.
 */
class DisplayedValues {
  readonly #values: RichOutput[] = [];
  #bytes = 0;
  #dropped = 0;
  #result: string | undefined;
  #exception: Outcome["exception"];

  /** Adds a displayed value. The payload is a MIME type, a null byte and the data as text. */
  display(payload: Buffer): void {
    const end = payload.indexOf(0);
    const size = payload.length - end - 1;
    if (end <= 0 || this.#values.length >= mostValues || this.#bytes + size > mostBytes) {
      this.#dropped += 1;
      return;
    }
    this.#bytes += size;
    this.#values.push(richOutput(payload.toString("utf8", 0, end), payload.toString("utf8", end + 1)));
  }

  /** Records the value of the last expression, as text. */
  result(payload: Buffer): void {
    this.#result = payload.toString("utf8", 0, longestResult);
  }

  /** Records the exception that ended the code: the name of its class, its message and its traceback, each after a null byte. */
  exception(payload: Buffer): void {
    const [name = "", value = "", traceback = ""] = payload
      .toString()
      .split("\0", 3)
      .map((text) => text.slice(0, longestException));
    this.#exception = { name, value, traceback };
  }

  /** The fields of the outcome. `droppedBefore` counts displayed values that the driver itself left out. */
  fields(droppedBefore: number) {
    const dropped = this.#dropped + droppedBefore;
    return {
      displays: this.#values,
      ...(this.#result !== undefined && { result: this.#result }),
      ...(this.#exception !== undefined && { exception: this.#exception }),
      ...(dropped > 0 && { displaysDropped: dropped }),
    };
  }
}

function richOutput(type: string, text: string): RichOutput {
  if (type === "application/json" || type.endsWith("+json")) return jsonOutput(type, text);
  if (type.startsWith("image/") && type !== "image/svg+xml")
    return { type, format: "base64", data: text, metadata: { size: Buffer.byteLength(text, "base64") } };
  return { type, format: formats[type] ?? "text", data: text };
}

const formats: Readonly<Record<string, string>> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "text/latex": "latex",
  "image/svg+xml": "svg",
};

function jsonOutput(type: string, text: string): RichOutput {
  try {
    return { type, format: "json", data: JSON.parse(text) };
  } catch {
    // The code declared the value as JSON, but it does not parse: return it as text.
    return { type, format: "text", data: text };
  }
}
