import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { AbortError, invalidArgument, StreamClosedError } from "../errors/errors.js";
import { Mutex } from "../streams/mutex.js";
import {
  ProgramStream,
  type ProgramStreamOptions,
  type StreamedResult,
  streamedResult,
} from "./program-stream.js";

/** A command's standard input: all of it at once, or a stream of pieces. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** A signal that can be sent to a running command. */
export type CommandSignal = AgentSchemas["SignalFrame"]["signal"];

export interface CommandStreamOptions extends ProgramStreamOptions {
  /** The input, or `true` if it comes through `write()` and `end()`. */
  stdin: CommandInput | boolean;
}

/** A running command: streams its output and feeds its input. See {@link ProgramStream}. */
export class CommandStream extends ProgramStream<StreamedResult> {
  readonly #stdin: CommandInput | boolean;
  readonly #mutex = new Mutex();
  #pieces: AsyncIterator<string | Uint8Array> | undefined;

  /** @internal */
  static of(options: CommandStreamOptions): CommandStream {
    return new CommandStream(options);
  }

  private constructor({ stdin, ...options }: CommandStreamOptions) {
    super(options);
    this.#stdin = stdin;
  }

  /**
   * Writes to the command's standard input; needs `stdin: true`. Resolves when the data is on its way. Waits while a lot
   * of earlier input is still unread. Input that the command no longer reads is dropped. The first call starts the command, as
   * the first read does; `write("")` does only that.
   *
   * The input of one call arrives in one piece, in the order of the calls, whether or not they are awaited. If the stream
   * ends while a long input is being sent, the call rejects with an error that says how many bytes were sent: an
   * `AbortError` after the signal, else a `StreamClosedError` with the code `INPUT_CUT`.
   */
  async write(input: string | Uint8Array): Promise<void> {
    if (this.#stdin !== true)
      throw invalidArgument(
        "This command's input is not open for writing.",
        "Start the command with stdin: true.",
      );
    await this.#write(input);
  }

  /** Closes the command's standard input, after everything that was written before. */
  async end(): Promise<void> {
    await this.#mutex.run(() => this.frames.send({ type: "stdin_close" }));
  }

  /** Sends a signal to the command and to the processes it started in its process group. `SIGINT` is Ctrl-C. */
  async signal(name: CommandSignal): Promise<void> {
    await this.frames.send({ type: "signal", signal: name });
  }

  /** @internal */
  protected override resultOf(frame: AgentSchemas["ResultFrame"]): StreamedResult {
    return streamedResult(frame);
  }

  /** @internal */
  protected override begin(): void {
    if (typeof this.#stdin === "boolean") return;
    this.#feed(this.#stdin).catch((error: unknown) => this.frames.fail(error));
  }

  /** @internal */
  protected override over(): void {
    // Close the input stream: the command no longer reads it, but it may have more data or be waiting for some.
    const pieces = this.#pieces;
    const leave = async (): Promise<void> => void (await pieces?.return?.());
    leave().catch(() => undefined);
  }

  async #feed(input: CommandInput): Promise<void> {
    if (typeof input === "string" || input instanceof Uint8Array) await this.#write(input);
    else {
      const pieces = input[Symbol.asyncIterator]();
      this.#pieces = pieces;
      for await (const piece of { [Symbol.asyncIterator]: () => pieces }) await this.#write(piece);
      this.#pieces = undefined;
    }
    await this.end();
  }

  async #write(input: string | Uint8Array): Promise<void> {
    const bytes = inputBytes(input);
    await this.#mutex.run(async () => {
      // Empty input starts the command, too.
      await this.frames.open();
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const data = base64(bytes.subarray(at, at + pieceBytes));
        await this.frames.send({ type: "stdin", data, encoding: "base64" }).catch((error: unknown) => {
          throw at === 0 ? error : inputCut(error, at, bytes.length);
        });
      }
    });
  }
}

/** The error for input of which only a part was sent when the stream ended. */
function inputCut(cause: unknown, sent: number, length: number): unknown {
  const summary = `At most ${Math.min(length, sent + pieceBytes)} of ${length} bytes of input were sent.`;
  if (cause instanceof AbortError) return new AbortError(cause.reason, summary);
  const hint = "Start the command again to send all of it.";
  return new StreamClosedError({ summary, hint, code: "INPUT_CUT", cause });
}

/** A piece of input as bytes. Throws for anything but text and bytes. */
export function inputBytes(input: string | Uint8Array): Uint8Array {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  if (bytes instanceof Uint8Array) return bytes;
  throw invalidArgument("The input must be text or a Uint8Array.");
}

/** Bytes of input per frame, because servers accept frames of only a few MiB. */
const pieceBytes = 192 * 1024;

/** Base64 without `Buffer`, which does not exist in every runtime. */
function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
