import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { invalidArgument } from "../errors/errors.js";
import {
  ProgramStream,
  type ProgramStreamOptions,
  type StreamedResult,
  streamedResult,
} from "./program-stream.js";

/** What a command reads: all of it at once, or as it comes. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** What a running command and what it started can be told. */
export type CommandSignal = AgentSchemas["SignalFrame"]["signal"];

export interface CommandStreamOptions extends ProgramStreamOptions {
  /** True when `write` and `end` give it. */
  stdin: CommandInput | boolean;
}

/** A command that runs, what it writes meanwhile, and what it is given to read. See {@link ProgramStream}. */
export class CommandStream extends ProgramStream<StreamedResult> {
  readonly #stdin: CommandInput | boolean;
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
   * Gives it something to read; needs `stdin: true`. Resolves when it is on its way: waits while a command that does not
   * read has much before it. What it no longer reads is dropped.
   */
  async write(input: string | Uint8Array): Promise<void> {
    if (this.#stdin !== true)
      throw invalidArgument("This command was given no open input.", "Use stdin: true.");
    await this.#write(input);
  }

  /** It has read all there is: the end of its input. */
  async end(): Promise<void> {
    await this.frames.send({ type: "stdin_close" });
  }

  /** Sends a signal to it and to what it started in its process group; `SIGINT` is Ctrl-C. */
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
    // What it reads may have more, or may be waiting for more.
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
    const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
    if (!(bytes instanceof Uint8Array)) throw invalidArgument("The input must be text or a Uint8Array.");
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const data = base64(bytes.subarray(at, at + pieceBytes));
      await this.frames.send({ type: "stdin", data, encoding: "base64" });
    }
  }
}

/** Servers take frames of a few MiB. */
const pieceBytes = 192 * 1024;

/** Without Buffer, which is not everywhere. */
function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
