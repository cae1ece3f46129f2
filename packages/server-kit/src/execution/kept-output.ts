import type { Readable } from "node:stream";
import type { OutputPiece } from "../handlers/agent/background-operations.js";
import type { OutputText } from "../handlers/agent/outcome.js";
import { outputPiece, readRange, withoutPartialEnd, withoutPartialStart } from "./output-piece.js";

/** A file that receives an output from its first byte. */
export interface OutputFile {
  /** Path of the file; undefined until it is open, or if it could not be written. */
  readonly path: string | undefined;
  /** Number of bytes in the file. */
  readonly size: number;
  /** Number of bytes, from the first on, that are or will be in the file. 0 if it could not be written. */
  readonly accepted: number;
  /** Resolves when all queued bytes are in the file. */
  readonly written: Promise<void>;
  /** Queues bytes. If a promise is returned, the caller must wait for it before it writes more. */
  write(bytes: Buffer): Promise<void> | undefined;
  close(): Promise<void>;
}

/** Most bytes that are read from a program at once. */
const largestChunk = 64 * 1024;

/**
 * The kept part of a program's output: the beginning and the end in memory, and all of the output in a file once it
 * exceeds the memory limit. While a reader follows the output, the program waits for it rather than lose what it has not
 * read.
 */
export class KeptOutput {
  readonly #window: ByteWindow;
  #file: OutputFile | undefined;
  #isComplete = false;
  /** Callbacks of readers that wait for more output. */
  readonly #waiting = new Set<() => void>();
  /** Number of bytes that the reader who follows the output has read; undefined if there is none. */
  #read: number | undefined;
  #isEnding = false;
  /** Lets the program go on if it need not wait for the reader any more. */
  #goOn: () => void = () => undefined;

  constructor(
    limit: number,
    /** Creates a file for output beyond the memory limit. Undefined if such output is dropped. */
    private readonly createFile: (() => OutputFile) | undefined,
    /** Whether the output goes to the file from its first byte, so that it survives the agent. */
    private readonly outlives = false,
  ) {
    this.#window = new ByteWindow(limit);
  }

  /** Number of bytes the program has written so far. */
  get bytes(): number {
    return this.#window.total;
  }

  /**
   * Path of the file with the output, up to the file's size limit. Undefined while the output fits in memory, or if
   * the file could not be written.
   */
  get file(): string | undefined {
    return this.#file?.path;
  }

  /** Whether the output has ended. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Resolves when the output has more than `bytes` bytes, when it has ended, or when `signal` aborts. */
  async beyond(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.bytes > bytes || this.#isComplete || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }

  /** Makes the program wait from now on, where `piece` would otherwise find that unread output was dropped. */
  follow(): void {
    this.#read = 0;
  }

  /** Ends the waiting that `follow` began. */
  leave(): void {
    this.#read = undefined;
    this.#goOn();
  }

  /**
   * Takes what is left in the program's pipe, without waiting for the reader: the program has ended, and its pipe is read
   * only for a moment longer. What processes write that the program left behind still waits.
   */
  readRest(): void {
    this.#isEnding = true;
    this.#goOn();
  }

  /**
   * Adds output. If a promise is returned, the disk or the reader is slower than the program: the caller must wait for
   * the promise before it adds more.
   */
  take(chunk: Buffer): Promise<void> | undefined {
    const window = this.#window;
    if (!this.#file && this.createFile && (this.outlives || window.total + chunk.length > window.limit)) {
      this.#file = this.createFile();
      void this.#file.write(Buffer.concat([window.head(), window.tail()]));
    }
    window.push(chunk);
    this.#wake();
    const writing = this.#file?.write(chunk);
    if (!this.#isAhead) return writing;
    return new Promise((resolve) => {
      this.#goOn = () => {
        if (!this.#isAhead) resolve(writing);
      };
    });
  }

  /** Resolves when everything taken so far is in memory or in the file. */
  async written(): Promise<void> {
    await this.#file?.written;
  }

  /** Marks the end of the output. `take` must not be called afterwards. */
  async complete(): Promise<void> {
    this.#isComplete = true;
    this.#wake();
    await this.#file?.close();
  }

  /**
   * The output as one text. If the middle is missing, a line between beginning and end says how many bytes were cut
   * and where they are.
   */
  text(): OutputText {
    const window = this.#window;
    if (!window.overflowed) {
      const text = Buffer.concat([window.head(), window.tail()]).toString();
      return { text, bytes: window.total, truncated: false };
    }
    const head = withoutPartialEnd(window.head());
    const tail = withoutPartialStart(window.tail());
    const cut = window.total - head.length - tail.length;
    const text = `${head}\n[... ${cut} bytes cut${this.createFile ? whereabouts(window, this.#file) : ""} ...]\n${tail}`;
    const path = this.#file?.path;
    return { text, bytes: window.total, truncated: true, ...(path !== undefined && { file: path }) };
  }

  /**
   * At most `limit` bytes from `offset` on; `limit` must be at least 4, the longest UTF-8 character. Leaves out a
   * last character that is still incomplete.
   */
  async piece(offset: number, limit: number): Promise<OutputPiece> {
    if (this.#read !== undefined) this.#read = offset;
    this.#goOn();
    // Read the total before the output, which may grow meanwhile: all of these bytes are then available below, unless
    // they were dropped.
    const { bytes: total } = this;
    const isComplete = this.#isComplete;
    const { start, bytes } = (await this.#fromFile(offset, limit)) ?? this.#window.slice(offset, limit);
    return outputPiece({ start, bytes }, { offset, total, isComplete });
  }

  /**
   * Whether so much of the output is unread and kept only as the window's end, which later output replaces, that the program
   * must wait. The room above the first limit is for what is in the program's pipe when it ends.
   */
  get #isAhead(): boolean {
    const { limit } = this.#window;
    if (this.#read === undefined) return false;
    const elsewhere = this.#file?.accepted ?? (this.createFile ? this.bytes : 0);
    const safe = Math.max(this.#read, elsewhere, this.#window.head().length);
    return this.bytes - safe > (this.#isEnding ? limit / 2 - largestChunk : limit / 8);
  }

  #wake(): void {
    for (const done of this.#waiting) done();
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

function whereabouts({ total }: ByteWindow, { path, size }: Partial<OutputFile> = {}): string {
  if (path === undefined) return "; the full output could not be kept on disk";
  return `; ${size === total ? "the full output is" : `the first ${size} bytes are`} in ${path}`;
}

/** Reads one output stream of a program and passes it to a `KeptOutput`. */
export class CapturedOutput {
  readonly ended: Promise<void>;
  #kept: KeptOutput | undefined;

  constructor(
    private readonly stream: Readable,
    kept: KeptOutput,
  ) {
    this.#kept = kept;
    stream.on("data", (chunk: Buffer) => {
      const written = kept.take(chunk);
      if (!written) return;
      stream.pause();
      void written.then(() => stream.resume());
    });
    this.ended = new Promise((resolve) => {
      stream.once("close", resolve);
      // A stream that fails counts as ended; what was read before is kept.
      stream.once("error", () => resolve());
    });
  }

  /** Resolves when everything read so far is in memory or in the file. */
  async written(): Promise<void> {
    await this.#kept?.written();
  }

  /** Reads what is left of a program that has ended, whether or not a reader keeps up. */
  readRest(): void {
    this.#kept?.readRest();
  }

  /**
   * Stops collecting and returns the text. Later bytes are read and dropped, so that processes that still write are
   * not blocked.
   */
  async finish(): Promise<OutputText> {
    this.stream.removeAllListeners("data");
    this.stream.resume();
    const kept = this.#kept;
    // A process in the background may keep the stream open as long as the sandbox lives. Drop the reference, so that
    // the collected output can be freed.
    this.#kept = undefined;
    if (!kept) return { text: "", bytes: 0, truncated: false };
    await kept.complete();
    return kept.text();
  }
}

/**
 * Keeps the beginning and the end of a byte stream in bounded memory. Chunks are copied into two buffers, so that a
 * program that writes single bytes costs no more memory than one that writes large blocks.
 */
export class ByteWindow {
  #head = Buffer.alloc(0);
  #headLength = 0;
  #tail: Buffer | undefined;
  /** Number of bytes received, including those no longer kept. */
  total = 0;

  private readonly tailLimit: number;

  /** Keeps `limit` bytes, of these at most `headLimit` from the beginning: half of them by default. */
  constructor(
    readonly limit: number,
    private readonly headLimit = Math.ceil(limit / 2),
  ) {
    this.tailLimit = limit - headLimit;
  }

  /** Whether bytes from the middle were dropped. */
  get overflowed(): boolean {
    return this.total > this.limit;
  }

  push(chunk: Buffer): void {
    const forHead = Math.min(chunk.length, this.headLimit - this.#headLength);
    if (forHead > 0) this.#pushHead(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.#pushTail(chunk.subarray(forHead));
    this.total += chunk.length;
  }

  head(): Buffer {
    return this.#head.subarray(0, this.#headLength);
  }

  tail(): Buffer {
    const length = this.total - this.#headLength;
    if (!this.#tail || length <= this.tailLimit) return (this.#tail ?? Buffer.alloc(0)).subarray(0, length);
    const seam = length % this.tailLimit;
    return Buffer.concat([this.#tail.subarray(seam), this.#tail.subarray(0, seam)]);
  }

  /**
   * At most `limit` bytes from `offset` on. If the byte at `offset` was dropped, starts at the first later one that
   * is kept. Stops at the gap between beginning and end.
   */
  slice(offset: number, limit: number): { readonly start: number; readonly bytes: Buffer } {
    const head = this.head();
    const tail = this.tail();
    if (!this.overflowed)
      return { start: offset, bytes: Buffer.concat([head, tail]).subarray(offset, offset + limit) };
    if (offset < head.length) return { start: offset, bytes: head.subarray(offset, offset + limit) };
    const tailStart = this.total - tail.length;
    const start = Math.max(offset, tailStart);
    return { start, bytes: tail.subarray(start - tailStart, start - tailStart + limit) };
  }

  #pushHead(bytes: Buffer): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(Math.max(length, this.#head.length * 2, 1024), this.headLimit),
      );
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    bytes.copy(this.#head, this.#headLength);
    this.#headLength = length;
  }

  /** The tail is a ring buffer: the byte at offset n after the head is stored at n modulo the buffer's size. */
  #pushTail(bytes: Buffer): void {
    if (this.tailLimit === 0) return;
    this.#tail ??= Buffer.allocUnsafe(this.tailLimit);
    const kept = bytes.subarray(Math.max(0, bytes.length - this.tailLimit));
    const offset = Math.max(0, this.total - this.headLimit) + (bytes.length - kept.length);
    const position = offset % this.tailLimit;
    const copied = kept.copy(this.#tail, position);
    if (copied < kept.length) kept.copy(this.#tail, 0, copied);
  }
}
