import { closeSync, fstatSync, openSync, readlinkSync, type Stats } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { posix } from "node:path";
import { failedWith, fileProblem, pathProblem } from "./file-problem.js";
import { OpenFile } from "./open-file.js";
import { entryLike, readsLike } from "./unreadable-name.js";

/**
 * Linux's O_PATH, which Node's constants lack: gets a handle of a file without opening it, so that a device or FIFO
 * is not triggered.
 */
const O_PATH = 0o10000000;

/**
 * The directories whose files are served, and the only way to access what is in them.
 *
 * Programs in the sandbox may replace a directory with a symbolic link at any moment, so a path is never checked
 * first and used afterwards. It is pinned: the agent holds the kernel's handle of the file, asks the kernel where it
 * is, and works through the handle. That is done synchronously: none of it blocks, and handing it to another thread
 * would take longer.
 */
export class ServedTree {
  private constructor(
    private readonly roots: readonly string[],
    private readonly realRoots: readonly string[],
  ) {}

  static async create(roots: readonly string[]): Promise<ServedTree> {
    return new ServedTree(roots, await Promise.all(roots.map((root) => realpath(root).catch(() => root))));
  }

  /** Base directory of relative paths. */
  get workspace(): string {
    return this.roots[0] ?? "/";
  }

  /**
   * Makes a path absolute and normalizes it. Throws a 403 problem unless the text of the path lies in a served root;
   * symbolic links are checked by `pin`.
   */
  resolve(path: string): string {
    if (path.includes("\0"))
      throw pathProblem(400, "INVALID_PATH", "A path cannot contain a null byte.", path);
    const absolute = posix.resolve(this.workspace, path);
    if (!isWithin(absolute, this.roots)) throw this.#notAllowed(path);
    return absolute;
  }

  isRoot(path: string): boolean {
    return this.roots.includes(path);
  }

  /** Pins the file or directory that a path leads to. Symbolic links are followed if they end in a served root. */
  async pin(path: string): Promise<Pin> {
    try {
      const descriptor = await hold(path);
      try {
        const where = readlinkSync(procPath(descriptor));
        if (!isWithin(where, this.realRoots)) throw this.#notAllowed(path);
        return new Pin(descriptor, path, where, fstatSync(descriptor));
      } catch (error) {
        closeSync(descriptor);
        throw error;
      }
    } catch (error) {
      throw fileProblem(error, path);
    }
  }

  async pinFile(path: string): Promise<Pin> {
    const pin = await this.pin(path);
    if (pin.stats.isFile()) return pin;
    pin.close();
    const what = pin.stats.isDirectory() ? "is a directory" : "is not a regular file";
    throw pathProblem(400, "INVALID_PATH", `${path} ${what}.`, path);
  }

  /** Pins a directory. `create`: also creates it and its missing parents. */
  async pinDirectory(path: string, create = false): Promise<Pin> {
    let pin: Pin;
    try {
      pin = await this.pin(path);
    } catch (error) {
      if (!create || !isMissing(error) || this.isRoot(path)) throw error;
      await this.#makeDirectory(path);
      pin = await this.pin(path);
    }
    if (pin.stats.isDirectory()) return pin;
    pin.close();
    const [status, code] = create
      ? ([409, "FILE_ALREADY_EXISTS"] as const)
      : ([400, "INVALID_PATH"] as const);
    throw pathProblem(status, code, `${path} exists and is not a directory.`, path);
  }

  async #makeDirectory(path: string): Promise<void> {
    using parent = await this.pinDirectory(posix.dirname(path), true);
    try {
      await mkdir(parent.entry(posix.basename(path)));
    } catch (error) {
      // Another process has created the directory in the meantime.
      if (!failedWith(error, "EEXIST")) throw fileProblem(error, path);
    }
  }

  #notAllowed(path: string) {
    const allowed = this.roots.join(" and ");
    return pathProblem(
      403,
      "PATH_NOT_ALLOWED",
      `${path} is not in ${allowed}, the only places files are served from.`,
      path,
    );
  }
}

/** A handle of a file or directory, which stays the same whatever happens to its path. */
export class Pin implements Disposable {
  constructor(
    private readonly descriptor: number,
    readonly path: string,
    /** The path of the file when it was pinned, with symbolic links resolved. */
    readonly realPath: string,
    readonly stats: Stats,
  ) {}

  /** A path that leads to this file and no other as long as the pin is held. */
  get location(): string {
    return procPath(this.descriptor);
  }

  /** The path of the entry with that name in a pinned directory. */
  entry(name: string): string {
    return `${this.location}/${name}`;
  }

  /**
   * Like `entry`, for an entry that exists. Its name may contain U+FFFD, which listings show for bytes that are not
   * UTF-8.
   */
  async existingEntry(name: string): Promise<Buffer> {
    return (await entryLike(Buffer.from(this.location), name, this.path)) ?? Buffer.from(this.entry(name));
  }

  /** Opens the pinned file for reading. */
  open(): OpenFile {
    return new OpenFile(this.location, this.path);
  }

  close(): void {
    closeSync(this.descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "FILE_NOT_FOUND";

/** Opens a path with O_PATH. The caller must then check where the handle is, because the path may lead anywhere. */
async function hold(path: string): Promise<number> {
  try {
    return openSync(path, O_PATH);
  } catch (error) {
    const bytes = failedWith(error, "ENOENT") ? await readsLike(path) : undefined;
    if (!bytes) throw error;
    return openSync(bytes, O_PATH);
  }
}

const procPath = (descriptor: number) => `/proc/self/fd/${descriptor}`;

const isWithin = (path: string, roots: readonly string[]) =>
  roots.some((root) => path === root || path.startsWith(`${root}/`));
