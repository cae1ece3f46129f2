import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { posix } from "node:path";
import type { Readable } from "node:stream";

const chunkSize = 256 * 1024;

/**
 * A file that is open for reading. What is read at once is read in this thread: it comes from memory, and the way to another
 * thread and back takes longer.
 */
export class OpenFile implements Disposable {
  /** Bytes, when it was opened. */
  readonly size: number;
  #descriptor: number | undefined;

  /** Opens what `location` leads to; `path` is its name to the caller. A device or FIFO must not be there. */
  constructor(
    location: string,
    readonly path: string,
  ) {
    this.#descriptor = openSync(location, constants.O_RDONLY | constants.O_NONBLOCK);
    this.size = fstatSync(this.#descriptor).size;
  }

  get name(): string {
    return posix.basename(this.path);
  }

  /** Up to `length` bytes: fewer where the file ends before. */
  read(start: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < length; filled += count)
      count = readSync(this.#held, bytes, filled, length - filled, start + filled);
    return bytes.subarray(0, filled);
  }

  /** The bytes from `start` to `end`, both included. The file is the stream's from then on, which closes it. */
  stream(start = 0, end = Number.POSITIVE_INFINITY): Readable {
    const stream = createReadStream("", { fd: this.#held, start, end, highWaterMark: chunkSize });
    this.#descriptor = undefined;
    return stream;
  }

  get #held(): number {
    if (this.#descriptor === undefined) throw new Error(`${this.path} is closed.`);
    return this.#descriptor;
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
