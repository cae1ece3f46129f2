import type { OutputPiece, OutputText } from "@cloud-sandbox/server-kit/handlers";
import { ByteWindow } from "./byte-window.js";
import type { OutputFile } from "./output-files.js";
import { outputPiece, readRange, withoutPartialEnd, withoutPartialStart } from "./output-piece.js";

/** What is kept of an output: head and tail in memory, all of it in a file once that is not enough. */
export class KeptOutput {
  readonly #window: ByteWindow;
  #file: OutputFile | undefined;
  #isComplete = false;
  /** Those who wait for more. */
  readonly #waiting = new Set<() => void>();

  constructor(
    limit: number,
    private readonly createFile: () => OutputFile,
    /** Whether all of it goes to the file, so that it is there when this process is not. */
    private readonly outlives = false,
  ) {
    this.#window = new ByteWindow(limit);
  }

  /** Bytes the program wrote so far. */
  get bytes(): number {
    return this.#window.total;
  }

  /** The file with all of it, as far as that is kept; there is none while memory is enough. */
  get file(): string | undefined {
    return this.#file?.path;
  }

  /** Whether nothing more will come. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Resolves when there are more bytes than that, when none will come, or when the signal says so. */
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

  /** Takes bytes; returns a promise when the caller should wait before it brings more. */
  take(chunk: Buffer): Promise<void> | undefined {
    const window = this.#window;
    if (!this.#file && (this.outlives || window.total + chunk.length > window.limit)) {
      this.#file = this.createFile();
      void this.#file.write(Buffer.concat([window.head(), window.tail()]));
    }
    window.push(chunk);
    this.#wake();
    return this.#file?.write(chunk);
  }

  /** Resolves when what was taken so far is where it belongs. */
  async written(): Promise<void> {
    await this.#file?.written;
  }

  /** Nothing more will be taken. */
  async complete(): Promise<void> {
    this.#isComplete = true;
    this.#wake();
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
