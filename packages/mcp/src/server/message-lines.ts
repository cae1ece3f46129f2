/**
 * Splits stdin into messages, one per line or several in a batch, and answers lines that are not messages, which the SDK's reader
 * would drop silently.
 */
import { Transform, type TransformCallback } from "node:stream";
import { type ErrorAnswer, notJson, type Received, received } from "./received-message.js";

/** Bytes of the longest message: a tool takes 16 MiB of text, and escapes may make that four times as long. */
export const longestMessage = 64 * 1024 * 1024;

/** Thrown for a message that is too long to be read. Its end cannot be found, so all later messages are lost too. */
export class MessageTooLongError extends Error {
  override readonly name = "MessageTooLongError";
}

export interface MessageLinesOptions {
  /** The most bytes of one message. Default: {@link longestMessage}. */
  readonly longest?: number;
  /** Called with the answer to each line that is not a JSON-RPC message. Undefined if JSON-RPC has no answer to it. */
  readonly onRefused: (answer: ErrorAnswer | undefined) => void;
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
  readonly #onRefused: MessageLinesOptions["onRefused"];
  readonly #whenWanted: () => Promise<void>;
  /** The parts of the current line. They are joined once, at its end: joining at each part would take quadratic time. */
  #parts: Buffer[] = [];
  #length = 0;

  constructor({ longest = longestMessage, onRefused, whenWanted = atOnce }: MessageLinesOptions) {
    super({ writableHighWaterMark: longestMessage });
    this.#longest = longest;
    this.#onRefused = onRefused;
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
      start = end + 1;
      for (const each of this.#endLine()) {
        if (typeof each === "string") this.push(each);
        else this.#onRefused(each.answer);
        await this.#whenWanted();
      }
    }
    this.#add(chunk.subarray(start));
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  /** The messages of a line, each as a line, and what is none. Version 2025-03-26 of MCP has batches. */
  #endLine(): ReadonlyArray<string | Pick<Received, "answer">> {
    // Some shells begin what they pipe with a byte order mark.
    const line = Buffer.concat(this.#parts)
      .toString()
      .replace(/^\uFEFF/, "");
    this.#parts = [];
    this.#length = 0;
    if (line.trim() === "") return [];
    try {
      const value: unknown = JSON.parse(line);
      const isBatch = Array.isArray(value) && value.length > 0;
      return (isBatch ? value : [value]).map((each) => {
        const { answer, message } = received(each);
        if (message === undefined) return { answer };
        // Most messages are passed on as they came: writing a long one anew takes time.
        return message === value ? line : `${JSON.stringify(message)}\n`;
      });
    } catch (error) {
      if (error instanceof SyntaxError) return [{ answer: notJson }];
      throw error;
    }
  }

  #tooLong(): MessageTooLongError {
    this.#parts = [];
    return new MessageTooLongError(`a message on stdin is longer than ${this.#longest} bytes`);
  }
}

const newline = 0x0a;
const atOnce = (): Promise<void> => Promise.resolve();
