import { closeSync, fstatSync, openSync, readlinkSync, type Stats } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { posix } from "node:path";
import { failedWith, fileProblem, pathProblem } from "./file-problem.js";
import { OpenFile } from "./open-file.js";
import { entryLike, readsLike } from "./unreadable-name.js";

/** Absent from Node's constants: names a file without opening it, so that no device or FIFO notices. */
const O_PATH = 0o10000000;

/**
 * The directories whose files are served, and the one way to get at what is in them.
 *
 * The sandbox's programs may swap a directory for a symbolic link at any moment, so a path is never checked and then
 * used. It is pinned: the kernel's handle of what it leads to is held, asked where it is, and worked through. That is
 * done in this thread: none of it can block, and each way to another thread and back takes longer than all of it.
 */
export class ServedTree {
  private constructor(
    private readonly roots: readonly string[],
    private readonly realRoots: readonly string[],
  ) {}

  static async create(roots: readonly string[]): Promise<ServedTree> {
    return new ServedTree(roots, await Promise.all(roots.map((root) => realpath(root).catch(() => root))));
  }

  /** Where relative paths start. */
  get workspace(): string {
    return this.roots[0] ?? "/";
  }

  /** The absolute, normal form of a path that lies in a root, going by its text. */
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

  /** Holds on to what a path leads to, through symbolic links as long as they end in a root. */
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

  /** `create` makes it and its parents when they are missing. */
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
      // Somebody else made it in between.
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

/** Something in the file system that stays the same whatever happens to its path. */
export class Pin implements Disposable {
  constructor(
    private readonly descriptor: number,
    readonly path: string,
    /** Where it was when it was pinned, without symbolic links. */
    readonly realPath: string,
    readonly stats: Stats,
  ) {}

  /** A path that leads to it, and nowhere else, while it is held. */
  get location(): string {
    return procPath(this.descriptor);
  }

  /** For a directory: a path that leads to its entry of that name. */
  entry(name: string): string {
    return `${this.location}/${name}`;
  }

  /** The same for an entry that is there, whose name may have been shown with U+FFFD. */
  async existingEntry(name: string): Promise<Buffer> {
    return (await entryLike(Buffer.from(this.location), name, this.path)) ?? Buffer.from(this.entry(name));
  }

  /** For a file: opens it for reading. */
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

/** The check of where it is comes after: whatever the path was made of. */
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
