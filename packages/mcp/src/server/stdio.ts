/** Serves one client over stdin and stdout, and ends when the client leaves. Only messages of the protocol go to stdout. */
import { once } from "node:events";
import { Transform, type TransformCallback, type Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { Session } from "../session/session.js";
import type { SharedBackend } from "../session/shared-backend.js";
import { createServer, type Offer } from "./mcp-server.js";
import { type ErrorAnswer, notJson, type Received, received } from "./received-message.js";
import { closeWithinMs, stopSignal, timePasses } from "./stopping.js";

/** Milliseconds without a message after which the backend is loaded in advance, before any call needs them. */
const quietMs = 100;

/**
 * Serves until stdin ends, stdout breaks or a signal asks to stop, and resolves when everything is cleaned up. A
 * message that is too long to be read also ends the connection, and sets the exit code to 1.
 */
export async function serveOverStdio(offer: Offer, backend: SharedBackend): Promise<void> {
  const { log } = offer;
  const session = new Session(backend);
  let isWarm = false;
  // Load what calls need only after the client has read the first answers, because loading takes longer than these.
  const quiet = setTimeout(() => {
    isWarm = true;
    backend.warmUp();
  }, quietMs);
  const lines = new MessageLines({
    onRefused: (answer) => {
      log("a line on stdin is not a JSON-RPC message");
      if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
    },
    whenWanted: () => {
      if (!isWarm) quiet.refresh();
      return whenRead(process.stdout);
    },
  });
  // `MessageLines` passes whole lines, so the transport never buffers more than one.
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout, {
    maxBufferSize: longestMessage,
  });
  const connection = serveStdio(() => createServer(offer, session), {
    transport,
    onerror: (error) => {
      if (!(error instanceof MessageTooLongError))
        return log(`a message could not be handled (${error.name})`);
      log(`${error.message}, so the connection ends: send less at a time`);
      process.exitCode = 1;
    },
  });
  const left = Promise.race([whenClosed(transport), whenDeserted()]);
  await Promise.race([left, stopSignal()]);
  await Promise.race([close(), timePasses(closeWithinMs)]);

  async function close(): Promise<void> {
    clearTimeout(quiet);
    await connection.close();
    await session.settled();
    await backend.close();
  }
}

/**
 * Resolves when the client has read most of the output. Waits one turn of the event loop first, so that requests that
 * have just arrived are handled.
 */
async function whenRead(output: Writable): Promise<void> {
  await nextTurn();
  // Ignore errors of stdout here: the transport reports them.
  if (output.writableNeedDrain) await once(output, "drain").catch(() => undefined);
}

/** Resolves when stdin has ended and the client has stopped reading answers. */
async function whenDeserted(): Promise<void> {
  await once(process.stdin, "end");
  for (let isRead = true; isRead; ) {
    const read = once(process.stdout, "drain").then(
      () => true,
      () => false,
    );
    isRead = await Promise.race([read, timePasses(closeWithinMs).then(() => false)]);
  }
}

function whenClosed(transport: StdioServerTransport): Promise<void> {
  return new Promise((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
}

/** Bytes of the longest message: a tool takes 16 MiB of text, and escapes may make that four times as long. */
const longestMessage = 64 * 1024 * 1024;

/** Thrown for a message that is too long to be read. Its end cannot be found, so all later messages are lost too. */
export class MessageTooLongError extends Error {
  override readonly name = "MessageTooLongError";
}

interface MessageLinesOptions {
  /** The most bytes of one message. Default: {@link longestMessage}. */
  readonly longest?: number;
  /** Called with the answer to each line that is not a JSON-RPC message. Undefined if JSON-RPC has no answer to it. */
  readonly onRefused: (answer: ErrorAnswer | undefined) => void;
  /** Resolves when the next message may come, so that answers which nobody reads do not pile up. Default: at once. */
  readonly whenWanted?: () => Promise<void>;
}

/**
 * Splits stdin into messages, one per line or several in a batch, and answers lines that are not messages, which the SDK's reader
 * would drop silently. Passes complete messages on, one at a time, when the reader is ready for the next. Continues to read its input
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
