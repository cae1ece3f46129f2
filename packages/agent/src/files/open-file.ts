import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { posix } from "node:path";
import type { Readable } from "node:stream";

const chunkSize = 256 * 1024;

/**
 * A file open for reading. Reads are synchronous: the data is usually in the page cache, and handing the read to
 * another thread would take longer.
 */
export class OpenFile implements Disposable {
  /** Size in bytes when the file was opened. */
  readonly size: number;
  #descriptor: number | undefined;

  /** Opens the file at `location`, which must not be a device or FIFO. `path` is the name that the caller knows. */
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

  /** Reads up to `length` bytes; fewer at the end of the file. */
  read(start: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < length; filled += count)
      count = readSync(this.#held, bytes, filled, length - filled, start + filled);
    return bytes.subarray(0, filled);
  }

  /** Streams the bytes from `start` to `end`, both included. The stream takes over the descriptor and closes it. */
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
