/**
 * Splits stdin into messages, one per line, and reports lines that are not messages, which the SDK's reader would drop
 * silently.
 */
import { Transform, type TransformCallback } from "node:stream";

/** Bytes of the longest message: a tool takes 16 MiB of text, and escapes may make that four times as long. */
export const longestMessage = 64 * 1024 * 1024;

/** Thrown for a message that is too long to be read. Its end cannot be found, so all later messages are lost too. */
export class MessageTooLongError extends Error {
  override readonly name = "MessageTooLongError";
}

export interface MessageLinesOptions {
  /** The most bytes of one message. Default: {@link longestMessage}. */
  readonly longest?: number;
  /** Called for each line that is not a JSON-RPC message. The line is dropped. */
  readonly onIgnored: () => void;
  /** Resolves when the next message may come, so that answers which nobody reads do not pile up. Default: at once. */
  readonly whenWanted?: () => Promise<void>;
}

/**
 * Passes complete messages on, one at a time, when the reader is ready for the next. Continues to read its input
 * meanwhile, so that the end of the input is noticed even while messages wait. Fails with a {@link
 * MessageTooLongError}.
 */
export class MessageLines extends Transform {
  readonly #longest: number;
  readonly #onIgnored: () => void;
  readonly #whenWanted: () => Promise<void>;
  /** The parts of the current line. They are joined once, at its end: joining at each part would take quadratic time. */
  #parts: Buffer[] = [];
  #length = 0;

  constructor({ longest = longestMessage, onIgnored, whenWanted = atOnce }: MessageLinesOptions) {
    super({ writableHighWaterMark: longestMessage });
    this.#longest = longest;
    this.#onIgnored = onIgnored;
    this.#whenWanted = whenWanted;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#pass(chunk).then(() => done(this.#length > this.#longest ? this.#tooLong() : null), done);
  }

  async #pass(chunk: Buffer): Promise<void> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end + 1));
      if (this.#length > this.#longest) break;
      this.#endLine();
      start = end + 1;
      await this.#whenWanted();
    }
    this.#add(chunk.subarray(start));
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
const atOnce = (): Promise<void> => Promise.resolve();

function isMessage(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && Reflect.get(value, "jsonrpc") === "2.0";
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
