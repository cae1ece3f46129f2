import { type FileHandle, rm } from "node:fs/promises";
import { join } from "node:path";
import { createPrivately, type PrivateDirectory } from "../../machine/private-directory.js";

const keptFiles = 16;
/** Bytes that may wait for the disk before the program has to. */
const highWater = 1024 * 1024;

/**
 * Full outputs that did not fit in memory: bounded in size and number. The oldest that are complete are removed first;
 * while more than that are being written, all of these are kept.
 */
export class OutputFiles {
  #files: OutputFile[] = [];

  constructor(
    private readonly directory: PrivateDirectory,
    private readonly sizeLimit: number,
    /** Files of at most this size do not count, and are removed by whoever has them made. */
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
    // The one that is being opened has nothing in it yet.
    if (counted.length < keptFiles) return;
    const oldest = counted.find(({ isClosed }) => isClosed);
    if (!oldest) return;
    this.#files = this.#files.filter((file) => file !== oldest);
    await oldest.remove();
  }
}

export class OutputFile {
  /** Where the output is; `undefined` when it could not be kept. */
  path: string | undefined;
  /** Bytes in the file. */
  size = 0;
  /** Nothing more will be written. */
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

  /** Takes bytes; returns a promise when the caller should wait before it brings more. */
  write(bytes: Buffer): Promise<void> | undefined {
    const kept = bytes.subarray(0, this.sizeLimit - this.#accepted);
    if (this.#failed || kept.length === 0) return undefined;
    this.#accepted += kept.length;
    this.#waiting += kept.length;
    this.#last = this.#last.then(() => this.#append(kept));
    return this.#waiting > highWater ? this.#last : undefined;
  }

  /** Resolves when everything taken so far is in the file. */
  get written(): Promise<void> {
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file?.close();
    this.#file = undefined;
    this.isClosed = true;
  }

  /** Never fails: what the sandbox's programs put in its place stays, where its owner can see it. */
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

  /** A part of the output is of less use than the disk space it takes. */
  async #giveUp(): Promise<void> {
    this.#failed = true;
    await this.remove();
  }
}
