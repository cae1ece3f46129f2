import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { ByteWindow } from "./byte-window.js";
import type { OutputFile } from "./output-files.js";

export interface OutputText {
  readonly text: string;
  /** Bytes the program wrote. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** The file with the full output, when the text is truncated and the file could be written. */
  readonly file?: string;
}

/** A piece of an output, by the bytes it covers. Between what was asked for and `start`, nothing is left. */
export interface OutputPiece {
  readonly text: string;
  readonly start: number;
  /** Where the next piece begins. */
  readonly end: number;
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** What is kept of an output: head and tail in memory, all of it in a file once that is not enough. */
export class KeptOutput {
  readonly #window: ByteWindow;
  #file: OutputFile | undefined;
  #isComplete = false;

  constructor(
    limit: number,
    private readonly createFile: () => OutputFile,
  ) {
    this.#window = new ByteWindow(limit);
  }

  /** Bytes the program wrote so far. */
  get bytes(): number {
    return this.#window.total;
  }

  /** Takes bytes; returns a promise when the caller should wait before it brings more. */
  take(chunk: Buffer): Promise<void> | undefined {
    const window = this.#window;
    if (!this.#file && window.total + chunk.length > window.limit) {
      this.#file = this.createFile();
      void this.#file.write(Buffer.concat([window.head(), window.tail()]));
    }
    window.push(chunk);
    return this.#file?.write(chunk);
  }

  /** Resolves when what was taken so far is where it belongs. */
  async written(): Promise<void> {
    await this.#file?.written;
  }

  /** Nothing more will be taken. */
  async complete(): Promise<void> {
    this.#isComplete = true;
    await this.#file?.close();
  }

  /** The output as one text; what is missing between head and tail is told on a line between them. */
  text(): OutputText {
    const window = this.#window;
    if (!window.overflowed) {
      const text = Buffer.concat([window.head(), window.tail()]).toString();
      return { text, bytes: window.total, truncated: false };
    }
    const head = withoutPartialEnd(window.head());
    const tail = withoutPartialStart(window.tail());
    const cut = window.total - head.length - tail.length;
    const text = `${head}\n[... ${cut} bytes cut${whereabouts(window, this.#file)} ...]\n${tail}`;
    const path = this.#file?.path;
    return { text, bytes: window.total, truncated: true, ...(path !== undefined && { file: path }) };
  }

  /** At most `limit` bytes (4 at least) from `offset` on, without a last character whose rest is still to come. */
  async piece(offset: number, limit: number): Promise<OutputPiece> {
    // Asked before anything is read, so that all of these bytes are found below unless they are lost.
    const { bytes: total } = this;
    const isComplete = this.#isComplete;
    const { start, bytes } = (await this.#fromFile(offset, limit)) ?? this.#window.slice(offset, limit);
    const first = start > offset ? withoutPartialStart(bytes) : bytes;
    const from = start + bytes.length - first.length;
    const isLast = from + first.length >= total;
    const whole = isLast && isComplete ? first : withoutPartialEnd(first);
    // A character whose rest is lost must not keep the reader from going on.
    const read = whole.length === 0 && !isLast ? first : whole;
    return { text: read.toString(), start: from, end: from + read.length };
  }

  async #fromFile(offset: number, limit: number): Promise<{ start: number; bytes: Buffer } | undefined> {
    if (!this.#file) return undefined;
    await this.#file.written;
    const { path, size } = this.#file;
    const length = Math.min(limit, size - offset);
    if (path === undefined || length <= 0) return undefined;
    const bytes = await readRange(path, offset, length);
    return bytes && { start: offset, bytes };
  }
}

/** Nothing when the file is gone, or not as it was left: the sandbox's programs can do that to it. */
async function readRange(path: string, offset: number, length: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    return bytesRead > 0 ? buffer.subarray(0, bytesRead) : undefined;
  } catch {
    return undefined;
  }
}

function whereabouts({ total }: ByteWindow, { path, size }: Partial<OutputFile> = {}): string {
  if (path === undefined) return "; the full output could not be kept on disk";
  return `; ${size === total ? "the full output is" : `the first ${size} bytes are`} in ${path}`;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Without the first bytes of a character whose rest was cut off. */
function withoutPartialEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** Without the last bytes of a character whose beginning was cut off. */
function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
