import type { Readable } from "node:stream";
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

/** Collects one output stream: head and tail in memory, all of it in a file once that is not enough. */
export class CapturedOutput {
  readonly ended: Promise<void>;
  #window: ByteWindow;
  #file: OutputFile | undefined;

  constructor(
    private readonly stream: Readable,
    limit: number,
    private readonly createFile: () => OutputFile,
  ) {
    this.#window = new ByteWindow(limit);
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    this.ended = new Promise((resolve) => {
      stream.once("close", resolve);
      // A stream that breaks has ended; what came before counts.
      stream.once("error", () => resolve());
    });
  }

  /** Resolves when what was read so far is where it belongs. */
  async written(): Promise<void> {
    await this.#file?.written;
  }

  /** What was collected. Bytes that come later are read and dropped, so that whoever still writes is not blocked. */
  async finish(): Promise<OutputText> {
    this.stream.removeAllListeners("data");
    this.stream.resume();
    const window = this.#window;
    // The stream may go on for as long as the sandbox; what was collected need not.
    this.#window = new ByteWindow(0);
    await this.#file?.close();
    if (!window.overflowed) {
      return {
        text: Buffer.concat([window.head(), window.tail()]).toString(),
        bytes: window.total,
        truncated: false,
      };
    }
    const head = withoutPartialEnd(window.head());
    const tail = withoutPartialStart(window.tail());
    const cut = window.total - head.length - tail.length;
    const text = `${head}\n[... ${cut} bytes cut${whereabouts(window, this.#file)} ...]\n${tail}`;
    const path = this.#file?.path;
    return { text, bytes: window.total, truncated: true, ...(path !== undefined && { file: path }) };
  }

  #take(chunk: Buffer): void {
    const window = this.#window;
    if (!this.#file && window.total + chunk.length > window.limit) {
      this.#file = this.createFile();
      void this.#file.write(Buffer.concat([window.head(), window.tail()]));
    }
    window.push(chunk);
    const turn = this.#file?.write(chunk);
    if (!turn) return;
    this.stream.pause();
    void turn.then(() => this.stream.resume());
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
