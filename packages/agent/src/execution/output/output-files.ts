import { type FileHandle, rm } from "node:fs/promises";
import { join } from "node:path";
import { createPrivately, type PrivateDirectory } from "../../machine/private-directory.js";

const keptFiles = 16;
/** Bytes that may be queued for the disk before `write` asks the caller to wait, which in turn blocks the program. */
const highWater = 1024 * 1024;

/**
 * Files for outputs that do not fit in memory. Each file's size and the number of files are limited. Above that
 * number the oldest finished file is deleted; files that are still being written are never deleted.
 */
export class OutputFiles {
  #files: OutputFile[] = [];

  constructor(
    private readonly directory: PrivateDirectory,
    private readonly sizeLimit: number,
    /** Files of at most this many bytes do not count towards the limit. The caller deletes them. */
    private readonly uncounted = 0,
  ) {}

  create(name: string): OutputFile {
    const file = new OutputFile(this.#open(name), this.sizeLimit);
    this.#files.push(file);
    return file;
  }

  async #open(name: string): Promise<{ file: FileHandle; path: string }> {
    const path = join(await this.directory.path(), name);
    const file = await createPrivately(path);
    await this.#removeOldest();
    return { file, path };
  }

  async #removeOldest(): Promise<void> {
    this.#files = this.#files.filter(({ isClosed, size }) => !isClosed || size > this.uncounted);
    const counted = this.#files.filter(({ size }) => size > this.uncounted);
    // Count one file more than `counted`: the file that is being opened is still empty, so it is not counted yet.
    if (counted.length < keptFiles) return;
    const oldest = counted.find(({ isClosed }) => isClosed);
    if (!oldest) return;
    this.#files = this.#files.filter((file) => file !== oldest);
    await oldest.remove();
  }
}

export class OutputFile {
  /** Path of the file; `undefined` until it is open, or if it could not be written. */
  path: string | undefined;
  /** Number of bytes in the file. */
  size = 0;
  /** Whether the file is complete. */
  isClosed = false;
  #accepted = 0;
  #waiting = 0;
  #failed = false;
  #last: Promise<void>;
  #file: FileHandle | undefined;

  constructor(
    opening: Promise<{ file: FileHandle; path: string }>,
    private readonly sizeLimit: number,
  ) {
    this.#last = opening.then(
      ({ file, path }) => {
        this.#file = file;
        this.path = path;
      },
      () => this.#giveUp(),
    );
  }

  /** Queues bytes for the file. If a promise is returned, the caller must wait for it before it writes more. */
  write(bytes: Buffer): Promise<void> | undefined {
    const kept = bytes.subarray(0, this.sizeLimit - this.#accepted);
    if (this.#failed || kept.length === 0) return undefined;
    this.#accepted += kept.length;
    this.#waiting += kept.length;
    this.#last = this.#last.then(() => this.#append(kept));
    return this.#waiting > highWater ? this.#last : undefined;
  }

  get accepted(): number {
    return this.#failed ? 0 : this.#accepted;
  }

  /** Resolves when all queued bytes are in the file. */
  get written(): Promise<void> {
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file?.close();
    this.#file = undefined;
    this.isClosed = true;
  }

  /**
   * Deletes the file. Never fails: something undeletable that a program in the sandbox put at this path is left there,
   * where the sandbox's owner can see it.
   */
  async remove(): Promise<void> {
    const { path } = this;
    this.path = undefined;
    if (path !== undefined) await rm(path, { force: true }).catch(() => undefined);
  }

  async #append(bytes: Buffer): Promise<void> {
    this.#waiting -= bytes.length;
    if (this.#failed || !this.#file) return;
    try {
      await this.#file.writeFile(bytes);
      this.size += bytes.length;
    } catch {
      await this.#giveUp();
    }
  }

  /** Deletes the file after a failed write: part of an output is worth less than the disk space it takes. */
  async #giveUp(): Promise<void> {
    this.#failed = true;
    await this.remove();
  }
}
