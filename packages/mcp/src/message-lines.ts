/** Cuts stdin into its messages, one a line, and says what the protocol's own reader passes over in silence. */
import { Transform, type TransformCallback } from "node:stream";

/** Most bytes of one message: room for the longest text that a tool takes, however it is escaped. */
export const longestMessage = 64 * 1024 * 1024;

/** A message is longer than can be read; those after it cannot be told from its rest. */
export class MessageTooLongError extends Error {
  override readonly name = "MessageTooLongError";
}

export interface MessageLinesOptions {
  /** Bytes. Default: {@link longestMessage}. */
  readonly longest?: number;
  /** Called for each line that is no JSON-RPC message, which goes no further. */
  readonly onIgnored: () => void;
}

/** Lets whole lines through that are messages; fails with a {@link MessageTooLongError}. */
export class MessageLines extends Transform {
  readonly #longest: number;
  readonly #onIgnored: () => void;
  /** The line that has begun; kept in parts, because joining them for each would take quadratic time. */
  #parts: Buffer[] = [];
  #length = 0;

  constructor({ longest = longestMessage, onIgnored }: MessageLinesOptions) {
    super();
    this.#longest = longest;
    this.#onIgnored = onIgnored;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end + 1));
      if (this.#length > this.#longest) break;
      this.#endLine();
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
    done(this.#length > this.#longest ? this.#tooLong() : null);
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  #endLine(): void {
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    const text = line.toString();
    if (isMessage(text)) this.push(line);
    else if (text.trim() !== "") this.#onIgnored();
  }

  #tooLong(): MessageTooLongError {
    this.#parts = [];
    return new MessageTooLongError(`a message on stdin is longer than ${this.#longest} bytes`);
  }
}

const newline = 0x0a;

function isMessage(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && Reflect.get(value, "jsonrpc") === "2.0";
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
