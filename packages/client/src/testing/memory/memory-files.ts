import { Problem } from "@cloud-sandbox/server-kit/portable";
import { isWithin, nameOf, parentOf, resolvePath } from "./posix-path.js";
import type { TestingClock } from "./testing-clock.js";

/** A file or directory of a sandbox. */
export interface MemoryFileEntry {
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** Size in bytes; 0 for a directory. */
  readonly size: number;
  /** Permissions, such as `0o644`. */
  readonly mode: number;
  readonly modifiedAt: Date;
}

/** @internal */
export interface FileEvent {
  readonly event: "created" | "modified" | "deleted" | "renamed";
  readonly path: string;
  readonly oldPath?: string;
}

interface Node {
  /** Content of a file; undefined for a directory. */
  readonly bytes: Uint8Array | undefined;
  readonly mode: number;
  readonly modifiedAt: Date;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A sandbox's file system, in memory. Relative paths start at `/workspace`; writing a file creates missing directories.
 */
export class MemoryFiles {
  readonly #clock: TestingClock;
  readonly #nodes = new Map<string, Node>();
  readonly #listeners = new Set<(event: FileEvent) => void>();

  /** @internal */
  constructor(clock: TestingClock, from?: MemoryFiles) {
    this.#clock = clock;
    if (from) for (const [path, node] of from.#nodes) this.#nodes.set(path, node);
    else for (const path of ["/", "/workspace", "/tmp"]) this.#put(path, undefined, 0o755);
  }

  /** Total size of all files, in bytes. */
  get totalBytes(): number {
    return [...this.#nodes.values()].reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  }

  /** Whether a path exists. */
  exists(path: string): boolean {
    return this.#nodes.has(resolvePath(workspace, path));
  }

  /** Describes a file or directory. Throws if it does not exist. */
  stat(path: string): MemoryFileEntry {
    const absolute = resolvePath(workspace, path);
    const node = this.#nodes.get(absolute);
    if (!node) throw problem(404, "FILE_NOT_FOUND", "does not exist.", absolute);
    const { bytes, mode, modifiedAt } = node;
    const name = nameOf(absolute);
    return { name, path: absolute, isDirectory: !bytes, size: bytes?.length ?? 0, mode, modifiedAt };
  }

  /** The bytes of a file. Throws if it does not exist. */
  read(path: string): Uint8Array {
    const absolute = resolvePath(workspace, path);
    const { bytes } = this.#nodes.get(this.stat(absolute).path) ?? {};
    if (!bytes) throw problem(400, "INVALID_PATH", "is a directory.", absolute);
    return bytes;
  }

  /** The text of a file. Throws if it does not exist. */
  readText(path: string): string {
    return decoder.decode(this.read(path));
  }

  /** Writes a file, replacing an existing one. Default of `mode`: that of the existing file, 0o644 for a new one. */
  write(path: string, content: string | Uint8Array, options: { mode?: number | undefined } = {}): void {
    const absolute = resolvePath(workspace, path);
    const existing = this.#nodes.get(absolute);
    if (existing && !existing.bytes) throw problem(400, "INVALID_PATH", "is a directory.", absolute);
    this.makeDirectory(parentOf(absolute));
    const mode = options.mode ?? existing?.mode ?? 0o644;
    const bytes = typeof content === "string" ? encoder.encode(content) : content.slice();
    this.#put(absolute, bytes, mode);
    if (!existing) this.#tell({ event: "created", path: absolute });
    if (existing || bytes.length > 0) this.#tell({ event: "modified", path: absolute });
  }

  /** Creates a directory and its missing parents. */
  makeDirectory(path: string): void {
    const absolute = resolvePath(workspace, path);
    const existing = this.#nodes.get(absolute);
    if (existing?.bytes)
      throw problem(409, "FILE_ALREADY_EXISTS", "exists and is not a directory.", absolute);
    if (existing) return;
    this.makeDirectory(parentOf(absolute));
    this.#put(absolute, undefined, 0o755);
    this.#tell({ event: "created", path: absolute });
  }

  /** Entries of a directory, sorted by name. */
  list(path: string): MemoryFileEntry[] {
    const absolute = resolvePath(workspace, path);
    if (!this.stat(absolute).isDirectory)
      throw problem(400, "INVALID_PATH", "exists and is not a directory.", absolute);
    const inside = [...this.#nodes.keys()].filter((key) => key !== "/" && parentOf(key) === absolute);
    return inside.sort().map((key) => this.stat(key));
  }

  /** Removes a file, or a directory with everything in it. */
  remove(path: string): void {
    const { path: absolute } = this.stat(path);
    for (const key of [...this.#nodes.keys()].sort().reverse()) {
      if (!isWithin(key, absolute)) continue;
      this.#nodes.delete(key);
      this.#tell({ event: "deleted", path: key });
    }
  }

  /** Moves a file or directory. Replaces a file at the new path. */
  rename(path: string, newPath: string): void {
    const { path: from } = this.stat(path);
    const to = resolvePath(workspace, newPath);
    if (from === to) return;
    if (isWithin(to, from)) throw problem(400, "INVALID_PATH", "lies in the directory that is moved.", to);
    this.makeDirectory(parentOf(to));
    for (const [key, node] of [...this.#nodes]) {
      if (!isWithin(key, from)) continue;
      this.#nodes.delete(key);
      this.#nodes.set(to + key.slice(from.length), node);
    }
    this.#tell({ event: "renamed", path: to, oldPath: from });
  }

  /**
   * Calls `listener` for every change, until the returned function is called.
   * @internal
   */
  listen(listener: (event: FileEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put(path: string, bytes: Uint8Array | undefined, mode: number): void {
    this.#nodes.set(path, { bytes, mode, modifiedAt: this.#clock.now() });
  }

  #tell(event: FileEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** The directory at which relative paths start. */
export const workspace = "/workspace";

type Code = "FILE_NOT_FOUND" | "INVALID_PATH" | "FILE_ALREADY_EXISTS";

const problem = (status: number, code: Code, text: string, path: string): Problem =>
  new Problem(status, code, `${path} ${text}`, { details: { path } });
