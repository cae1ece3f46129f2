/** Runs programs that are given input, or whose output is reported as it comes. */
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, checkSeconds } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { CallScope } from "../transport/calls/calls.js";
import { type CommandInput, CommandStream, inputBytes } from "./command-stream.js";
import {
  checkStdin,
  type ExecuteOptions,
  type ExecuteRequest,
  type OutputCallbacks,
} from "./execute-options.js";
import { ExecutionStream } from "./execution-stream.js";
import type { OutputEvent, ProgramStream, StreamedResult } from "./program-stream.js";
import type { DisplayedValue } from "./results/displayed-value.js";
import type { CommandResult, ExecutionResult, OutputExtent } from "./results/execution-result.js";

/** A checked command. */
interface CommandRequest {
  command: string;
  args: string[];
  timeout: number;
  env?: Record<string, string>;
  workdir?: string;
}

type RunOptions = Pick<ExecuteOptions, keyof OutputCallbacks | keyof CallOptions | "onDisplay">;

/** Runs code over /execute/stream. */
export async function streamedCode(
  access: AgentAccess,
  body: ExecuteRequest,
  options: RunOptions,
): Promise<ExecutionResult> {
  const { cache: _cache, ...request } = body;
  const result = await readLive((signal) => codeStream(access, request, signal), options);
  return { ...result, language: body.language, cached: false };
}

/** A stream of checked code. */
export function codeStream(
  access: AgentAccess,
  request: Omit<ExecuteRequest, "cache">,
  signal: AbortSignal | undefined,
): ExecutionStream {
  checkStdin(request, access.isExtended);
  const first = { type: "execute", ...request, capture_rich: true };
  const { timeout } = request;
  return ExecutionStream.of({ access, path: "/execute/stream", first, timeout, signal });
}

/** Runs a command over /commands/stream or, on servers without this project's extensions, /execute/stream. */
export async function streamedCommand(
  access: AgentAccess,
  request: CommandRequest,
  stdin: CommandInput | undefined,
  options: RunOptions,
): Promise<CommandResult> {
  const open = access.isExtended ? commandStream : bashStream;
  const result = await readLive((signal) => open(access, request, stdin, signal), options);
  const { executionTimeSeconds, exitCode, kind, output, stderr, stdout, success, terminationReason } = result;
  return {
    kind,
    success,
    stdout,
    stderr,
    exitCode,
    executionTimeSeconds,
    terminationReason,
    output,
    pid: undefined,
  };
}

/** A stream of output that ends with a result. */
interface LiveStream<Result> extends AsyncIterable<OutputEvent | { type: "result" | "error" }> {
  result(): Promise<Result>;
}

/** Reads a program's stream to its end, calls the callbacks, and returns the result with the output. */
export async function readLive<Result extends StreamedResult & { richOutputs?: readonly DisplayedValue[] }>(
  open: (signal: AbortSignal) => LiveStream<Result> | Promise<LiveStream<Result>>,
  { onDisplay, onStderr, onStdout, requestTimeoutSeconds: seconds, signal }: RunOptions,
): Promise<Result & { stdout: string; stderr: string }> {
  checkSeconds("requestTimeoutSeconds", seconds);
  const scope = new CallScope(signal);
  if (seconds !== undefined)
    scope.limit({ seconds, kind: "request", passed: "The program's end was not reported" });
  const stdout = new KeptOutput();
  const stderr = new KeptOutput();
  try {
    scope.throwIfAborted();
    const stream = await open(scope.abortSignal);
    // An error of a callback leaves the loop, which ends the program.
    for await (const event of stream) {
      if (event.type !== "stdout" && event.type !== "stderr") continue;
      (event.type === "stdout" ? stdout : stderr).add(event.text, event.skippedBytes);
      await (event.type === "stdout" ? onStdout : onStderr)?.(event.text);
    }
    const result = await stream.result();
    for (const value of result.richOutputs ?? []) await onDisplay?.(value);
    const output = {
      stdout: stdout.extent(result.output.stdout),
      stderr: stderr.extent(result.output.stderr),
    };
    return { ...result, stdout: stdout.text, stderr: stderr.text, output };
  } catch (error) {
    throw scope.failure ?? error;
  } finally {
    scope.end();
  }
}

function commandStream(
  access: AgentAccess,
  request: CommandRequest,
  stdin: CommandInput | undefined,
  signal: AbortSignal,
): ProgramStream<StreamedResult> {
  const { timeout } = request;
  const first = { type: "command", ...request, stdin: stdin !== undefined };
  return CommandStream.of({
    access,
    path: "/commands/stream",
    first,
    timeout,
    signal,
    stdin: stdin ?? false,
  });
}

/** The command as bash code: the cloud documents no messages of /commands/stream. The input is part of the code. */
async function bashStream(
  access: AgentAccess,
  { args, command, timeout, ...settings }: CommandRequest,
  stdin: CommandInput | undefined,
  signal: AbortSignal,
): Promise<ProgramStream<StreamedResult>> {
  const words = [command, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const code =
    stdin === undefined
      ? `exec ${words} </dev/null`
      : `base64 -d <<'${inputEnd}' | ${words}\n${await encoded(stdin)}\n${inputEnd}`;
  const first = { type: "execute", code, language: "bash", timeout, ...settings };
  return ExecutionStream.of({ access, path: "/execute/stream", first, timeout, signal });
}

const inputEnd = "CLOUD_SANDBOX_INPUT";
/** The most bytes of input that are sent as part of the code. */
const longestInput = 1024 * 1024;

async function encoded(stdin: CommandInput): Promise<string> {
  const pieces = typeof stdin === "string" || stdin instanceof Uint8Array ? [stdin] : stdin;
  let text = "";
  let rest = new Uint8Array(0);
  let length = 0;
  for await (const piece of pieces) {
    const bytes = inputBytes(piece);
    length += bytes.length;
    if (length > longestInput) throw tooMuchInput();
    const all = new Uint8Array([...rest, ...bytes]);
    // Base64 has no padding inside: encode whole groups of three bytes.
    const whole = all.length - (all.length % 3);
    for (let at = 0; at < whole; at += lineBytes)
      text += `${btoa(String.fromCharCode(...all.subarray(at, Math.min(at + lineBytes, whole))))}\n`;
    rest = all.slice(whole);
  }
  return text + btoa(String.fromCharCode(...rest));
}

const lineBytes = 3 * 1024;

function tooMuchInput(): Error {
  return invalidArgument(
    `stdin is longer than ${longestInput} bytes, which this server cannot take.`,
    "Write it with files.write() and redirect it: `sort < input.txt`.",
  );
}

/** Characters of output to keep from the beginning, and as many from the end. */
const half = 512 * 1024;

/** The beginning and the end of an output. */
class KeptOutput {
  #head = "";
  #tail = "";
  #cut = 0;
  #skipped = 0;

  add(text: string, skippedBytes: number): void {
    const left = half - this.#head.length;
    this.#skipped += skippedBytes;
    this.#head += text.slice(0, left);
    this.#tail += text.slice(left);
    // Cut only now and then, because each cut copies what is kept.
    if (this.#tail.length > 2 * half) this.#shorten();
  }

  get text(): string {
    this.#shorten();
    return this.#cut === 0
      ? this.#head + this.#tail
      : `${this.#head}\n[... ${this.#cut} characters cut ...]\n${this.#tail}`;
  }

  extent(reported: OutputExtent): OutputExtent {
    return { ...reported, truncated: reported.truncated || this.#cut > 0 || this.#skipped > 0 };
  }

  #shorten(): void {
    const excess = Math.max(0, this.#tail.length - half);
    this.#cut += excess;
    this.#tail = this.#tail.slice(excess);
  }
}
