import type { OutputPiece } from "../handlers/agent/job-handlers.js";
import type { OutputText } from "../handlers/agent/outcome.js";
import { ByteWindow } from "./byte-window.js";
import { outputPiece, readRange, withoutPartialEnd, withoutPartialStart } from "./output-piece.js";

/** A file that receives an output from its first byte. */
export interface OutputFile {
  /** Path of the file; undefined until it is open, or if it could not be written. */
  readonly path: string | undefined;
  /** Number of bytes in the file. */
  readonly size: number;
  /** Resolves when all queued bytes are in the file. */
  readonly written: Promise<void>;
  /** Queues bytes. If a promise is returned, the caller must wait for it before it writes more. */
  write(bytes: Buffer): Promise<void> | undefined;
  close(): Promise<void>;
}

/**
 * The kept part of a program's output: the beginning and the end in memory, and all of the output in a file once it
 * exceeds the memory limit.
 */
export class KeptOutput {
  readonly #window: ByteWindow;
  #file: OutputFile | undefined;
  #isComplete = false;
  /** Callbacks of readers that wait for more output. */
  readonly #waiting = new Set<() => void>();

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

  /**
   * Adds output. If a promise is returned, the disk is slower than the program: the caller must wait for the promise
   * before it adds more.
   */
  take(chunk: Buffer): Promise<void> | undefined {
    const window = this.#window;
    if (!this.#file && this.createFile && (this.outlives || window.total + chunk.length > window.limit)) {
      this.#file = this.createFile();
      void this.#file.write(Buffer.concat([window.head(), window.tail()]));
    }
    window.push(chunk);
    this.#wake();
    return this.#file?.write(chunk);
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
    // Read the total before the output, which may grow meanwhile: all of these bytes are then available below, unless
    // they were dropped.
    const { bytes: total } = this;
    const isComplete = this.#isComplete;
    const { start, bytes } = (await this.#fromFile(offset, limit)) ?? this.#window.slice(offset, limit);
    return outputPiece({ start, bytes }, { offset, total, isComplete });
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
