/** Runs commands that are given input, or whose output is reported as it comes. */
import type { AgentAccess } from "../agent/agent-access.js";
import type { CallOptions } from "../config/call-options.js";
import { checkSeconds } from "../config/option-checks.js";
import { invalidArgument } from "../errors/errors.js";
import { CallScope } from "../transport/calls/call-scope.js";
import { type CommandInput, CommandStream, inputBytes } from "./command-stream.js";
import { ExecutionStream } from "./execution-stream.js";
import type { ProgramStream, StreamedResult } from "./program-stream.js";
import type { CommandResult, OutputExtent } from "./results/execution-result.js";

/** The options of `commands.run` about input and output while the command runs. */
export interface LiveCommandOptions {
  /** Standard input: text, bytes, or a stream of either. Default: empty input. In the cloud at most 1 MiB. */
  stdin?: CommandInput | undefined;
  /**
   * Called with each piece of standard output as it is written. A promise that it returns is awaited before the next
   * piece. If it throws, the command is killed and the call rejects with that error.
   */
  onStdout?: ((text: string) => unknown) | undefined;
  /** Called with each piece of standard error as it is written, like `onStdout`. */
  onStderr?: ((text: string) => unknown) | undefined;
}

/** A checked command. */
interface CommandRequest {
  command: string;
  args: string[];
  timeout: number;
  env?: Record<string, string>;
  workdir?: string;
}

export async function runLive(
  access: AgentAccess,
  request: CommandRequest,
  options: LiveCommandOptions & CallOptions,
): Promise<CommandResult> {
  const { requestTimeoutSeconds: seconds, signal, stdin } = options;
  checkSeconds("requestTimeoutSeconds", seconds);
  const scope = new CallScope(signal);
  if (seconds !== undefined)
    scope.limit({ seconds, kind: "request", passed: "The command's end was not reported" });
  try {
    scope.throwIfAborted();
    const stream = access.isExtended
      ? commandStream(access, request, stdin, scope.abortSignal)
      : await bashStream(access, request, stdin, scope.abortSignal);
    return await readToEnd(stream, options);
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
  { args, command, timeout, ...place }: CommandRequest,
  stdin: CommandInput | undefined,
  signal: AbortSignal,
): Promise<ProgramStream<StreamedResult>> {
  const words = [command, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const code =
    stdin === undefined
      ? `exec ${words} </dev/null`
      : `base64 -d <<'${inputEnd}' | ${words}\n${await encoded(stdin)}\n${inputEnd}`;
  const first = { type: "execute", code, language: "bash", timeout, ...place };
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

async function readToEnd(
  stream: ProgramStream<StreamedResult>,
  { onStderr, onStdout }: LiveCommandOptions,
): Promise<CommandResult> {
  const stdout = new KeptOutput();
  const stderr = new KeptOutput();
  // An error of a callback leaves the loop, which ends the command.
  for await (const event of stream) {
    if (event.type !== "stdout" && event.type !== "stderr") continue;
    (event.type === "stdout" ? stdout : stderr).add(event.text, event.skippedBytes);
    await (event.type === "stdout" ? onStdout : onStderr)?.(event.text);
  }
  const { output, ...result } = await stream.result();
  return {
    kind: "result",
    success: result.success,
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: result.exitCode,
    executionTimeSeconds: result.executionTimeSeconds,
    terminationReason: result.terminationReason,
    output: { stdout: stdout.extent(output.stdout), stderr: stderr.extent(output.stderr) },
    pid: undefined,
  };
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
    const room = half - this.#head.length;
    this.#skipped += skippedBytes;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
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
