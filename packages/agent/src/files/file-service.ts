import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  openSync,
  renameSync,
  type Stats,
  writeSync,
} from "node:fs";
import { link, lstat, opendir, rm, unlink } from "node:fs/promises";
import { posix } from "node:path";
import { finished, Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { longestAnswer } from "@cloud-sandbox/protocol/bounded-answers";
import { fileInfo as entryInfo, requireFilePath } from "@cloud-sandbox/server-kit/handlers";
import { alreadyThere, Destination, statsIfThere } from "./destination.js";
import { failedWith, fileProblem, pathProblem } from "./file-problem.js";
import type { OpenFile } from "./open-file.js";
import { isMissing, type Pin, type ServedTree } from "./served-tree.js";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Most bytes of an answer to /files/read: clients refuse longer ones. */
const readLimit = longestAnswer("/files/read") ?? 0;
/** Files up to this size, in bytes, are read at once: that is cheaper than streaming. */
const wholeRead = 1024 * 1024;
const listLimit = 10_000;
/** Number of entries that are examined at the same time. */
const batch = 64;

export interface WriteOptions {
  /** Permissions of the file. Default: those of the file that is replaced, 0644 for a new one. */
  readonly mode?: number | undefined;
  readonly overwrite: boolean;
}

export interface WrittenFile {
  /** Absolute path of the file. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
}

/**
 * Appends bytes to a file synchronously: the write goes to the page cache, and handing it to another thread would
 * take longer.
 */
export type Append = (bytes: Uint8Array) => void;

/** Copies a stream into a file. `failure` may replace the error if the stream breaks off. */
export function copy(
  from: Readable,
  append: Append,
  failure: (cause: Error) => Error = (cause) => cause,
): Promise<void> {
  // Uses "data" events, which are faster than async iteration.
  return new Promise((resolve, reject) => {
    const take = (piece: Buffer): void => {
      try {
        append(piece);
      } catch (error) {
        from.off("data", take);
        reject(error);
      }
    };
    finished(from, (error) => (error ? reject(failure(error)) : resolve()));
    from.on("data", take);
  });
}

/**
 * Yields the JSON answer of a read in pieces, so that the whole is never in memory, which the sandbox's programs
 * need.
 */
async function* textInPieces(path: string, bytes: Readable): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  let size = 0;
  yield `{"path":${JSON.stringify(path)},"content":"`;
  for await (const piece of bytes) {
    size += piece.length;
    yield escaped(decoder.write(piece));
  }
  yield `${escaped(decoder.end())}","size":${size}}`;
}

/** Implements the file operations. Paths are given by the caller; answers contain absolute paths. */
export class FileService {
  constructor(private readonly tree: ServedTree) {}

  /** The text of a file. A large file is returned as a stream that yields the complete JSON answer. */
  async read(path: string): Promise<{ path: string; content: string; size: number } | Readable> {
    using file = await this.open(path);
    const { path: absolute, size } = file;
    if (size <= wholeRead) {
      const bytes = file.read(0, size);
      return { path: absolute, content: bytes.toString(), size: bytes.length };
    }
    if (size <= readLimit) {
      let length = 0;
      for await (const piece of textInPieces(absolute, file.stream(0, size - 1)))
        length += Buffer.byteLength(piece);
      if (length <= readLimit) {
        using reopened = await this.open(path);
        const bytes = reopened.stream(0, size - 1);
        return Readable.from(textInPieces(absolute, bytes)).on("close", () => bytes.destroy());
      }
    }
    throw pathProblem(
      413,
      "FILE_TOO_LARGE",
      `${absolute} takes more than ${readLimit} bytes as JSON, the most that is read as text. Use /files/download.`,
      absolute,
    );
  }

  /** Opens a file for reading. The caller closes it. */
  async open(path: string): Promise<OpenFile> {
    using pin = await this.tree.pinFile(this.tree.resolve(path));
    return openPinned(pin);
  }

  async exists(path: string): Promise<{ path: string; exists: boolean; is_directory?: boolean }> {
    const absolute = this.tree.resolve(path);
    try {
      using pin = await this.tree.pin(absolute);
      return { path: absolute, exists: true, is_directory: pin.stats.isDirectory() };
    } catch (error) {
      if (isMissing(error)) return { path: absolute, exists: false };
      throw error;
    }
  }

  async list(path: string): Promise<AgentSchemas["FileListResponse"]> {
    const absolute = this.tree.resolve(path);
    using pin = await this.tree.pinDirectory(absolute);
    const names: Buffer[] = [];
    let total = 0;
    try {
      for await (const { name } of await opendir(pin.location, { bufferSize: 256, encoding: "latin1" })) {
        total += 1;
        if (names.length < listLimit) names.push(Buffer.from(name, "latin1"));
      }
    } catch (error) {
      throw fileProblem(error, absolute);
    }
    names.sort(Buffer.compare);
    const files: AgentSchemas["FileInfo"][] = [];
    for (let at = 0; at < names.length; at += batch) {
      const found = await Promise.all(names.slice(at, at + batch).map((name) => fileEntry(pin, name)));
      for (const entry of found) if (entry) files.push(entry);
    }
    return { path: absolute, files, count: files.length, total, truncated: total > names.length };
  }

  /** Describes an entry. A symbolic link is not followed. */
  async stat(path: string): Promise<AgentSchemas["FileInfo"]> {
    const absolute = this.tree.resolve(path);
    if (this.tree.isRoot(absolute)) {
      using root = await this.tree.pin(absolute);
      return fileInfo(absolute, root.stats);
    }
    using parent = await this.tree.pinDirectory(posix.dirname(absolute));
    return fileInfo(absolute, await entryStats(parent, absolute));
  }

  async makeDirectory(path: string): Promise<string> {
    const absolute = this.tree.resolve(path);
    using _pin = await this.tree.pinDirectory(absolute, true);
    return absolute;
  }

  async remove(path: string): Promise<string> {
    const absolute = this.tree.resolve(path);
    this.#refuseRoot(absolute, "removed");
    using parent = await this.tree.pinDirectory(posix.dirname(absolute));
    try {
      // A symbolic link itself is deleted, not its target.
      await rm(await parent.existingEntry(posix.basename(absolute)), { recursive: true });
    } catch (error) {
      throw fileProblem(error, absolute);
    }
    return absolute;
  }

  /** Moves a file, or a directory within the same file system. */
  async rename(path: string, newPath: string, overwrite: boolean): Promise<string> {
    const from = this.tree.resolve(path);
    const to = this.tree.resolve(newPath);
    for (const moved of [from, to]) this.#refuseRoot(moved, "moved");
    using parent = await this.tree.pinDirectory(posix.dirname(from));
    const stats = await entryStats(parent, from);
    using directory = await this.tree.pinDirectory(posix.dirname(to), true);
    const destination = directory.entry(posix.basename(to));
    const entry = await parent.existingEntry(posix.basename(from));
    // Do not wait between this look and the move: another move to the same name could end meanwhile.
    const existing = statsIfThere(destination);
    if (existing && from !== to && (!overwrite || existing.isDirectory())) throw alreadyThere(to);
    try {
      renameSync(entry, destination);
    } catch (error) {
      if (failedWith(error, "EINVAL"))
        throw pathProblem(400, "INVALID_PATH", `${from} cannot be moved into itself.`, to);
      if (!failedWith(error, "EXDEV")) throw fileProblem(error, from);
      if (!stats.isFile())
        throw pathProblem(
          400,
          "INVALID_PATH",
          `${to} is on another file system than ${from}: move it with the command mv.`,
          to,
        );
      await this.#copyFile(from, to, overwrite);
      await rm(entry, { force: true });
    }
    return to;
  }

  /** Writes a file atomically: it appears complete or not at all. `fill` supplies the content. */
  async write(
    path: string,
    options: WriteOptions,
    fill: (append: Append) => void | Promise<void>,
  ): Promise<WrittenFile> {
    const absolute = this.tree.resolve(path);
    if (!this.tree.isRoot(absolute)) requireFilePath(path);
    using destination = await Destination.of(this.tree, absolute, options.overwrite);
    const temporary = destination.directory.entry(temporaryName());
    try {
      const size = await create(temporary, () => options.mode ?? destination.mode, fill);
      await moveTo(temporary, destination.entry, options.overwrite);
      return { path: absolute, size };
    } catch (error) {
      await rm(temporary, { force: true });
      throw fileProblem(error, absolute);
    }
  }

  /** Puts a file that was written at a temporary path where `write` would have put it, across file systems too. */
  async move(from: string, to: string, options: WriteOptions): Promise<string> {
    const source = this.tree.resolve(from);
    const absolute = this.tree.resolve(to);
    using pin = await this.tree.pinFile(source);
    using destination = await Destination.of(this.tree, absolute, options.overwrite);
    try {
      chmodSync(pin.location, options.mode ?? destination.mode);
      await moveTo(pin.realPath, destination.entry, options.overwrite);
    } catch (error) {
      if (!failedWith(error, "EXDEV")) throw fileProblem(error, absolute);
      await this.#copyFile(source, absolute, options.overwrite);
      await rm(pin.realPath, { force: true });
    }
    return absolute;
  }

  /** The path for an uploaded file named `name`: inside `path` if that is a directory, else `path` itself. */
  async uploadTarget(path: string, name: string): Promise<string> {
    const plain = posix.basename(name);
    const inside = posix.join(path, plain === "" || plain === "." || plain === ".." ? "upload" : plain);
    if (path.endsWith("/")) return inside;
    const { is_directory } = await this.exists(path);
    return is_directory ? inside : path;
  }

  /** Deletes a temporary file if it exists. */
  async discard(path: string): Promise<void> {
    await rm(this.tree.resolve(path), { force: true });
  }

  /** A path for an upload whose destination is not known yet. */
  temporaryPath(): string {
    return posix.join(this.tree.workspace, temporaryName());
  }

  async #copyFile(from: string, to: string, overwrite: boolean): Promise<void> {
    using pin = await this.tree.pinFile(from);
    using content = openPinned(pin);
    const options = { mode: pin.stats.mode & 0o777, overwrite };
    const bytes = content.stream();
    try {
      await this.write(to, options, (append) => copy(bytes, append));
    } finally {
      bytes.destroy();
    }
  }

  #refuseRoot(path: string, what: string): void {
    if (!this.tree.isRoot(path)) return;
    const message = `${path} itself cannot be ${what}, only the files and directories in it.`;
    throw pathProblem(403, "PATH_NOT_ALLOWED", message, path);
  }
}

function openPinned(pin: Pin): OpenFile {
  try {
    return pin.open();
  } catch (error) {
    throw fileProblem(error, pin.path);
  }
}

async function entryStats(parent: Pin, path: string): Promise<Stats> {
  try {
    return await lstat(await parent.existingEntry(posix.basename(path)));
  } catch (error) {
    throw fileProblem(error, path);
  }
}

/** Creates a file and returns its size. `mode` is asked for its permissions once it is complete. */
async function create(
  path: string,
  mode: () => number,
  fill: (append: Append) => void | Promise<void>,
): Promise<number> {
  const descriptor = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  let size = 0;
  try {
    await fill((bytes) => {
      for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
      size += bytes.length;
    });
    fchmodSync(descriptor, mode());
    return size;
  } finally {
    closeSync(descriptor);
  }
}

async function moveTo(temporary: string, destination: string, overwrite: boolean): Promise<void> {
  if (overwrite) return renameSync(temporary, destination);
  await link(temporary, destination);
  await unlink(temporary);
}

function temporaryName(): string {
  return `.${randomUUID()}.tmp`;
}

/** Whether a name is one that the agent gives to a file while it is being written. */
export function isTemporaryName(name: string): boolean {
  return /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/.test(name);
}

/** Describes a directory entry. `undefined` if it has been deleted meanwhile. */
export async function fileEntry(
  directory: Pin,
  bytes: Buffer,
): Promise<AgentSchemas["FileInfo"] | undefined> {
  const entry = Buffer.concat([Buffer.from(`${directory.location}/`), bytes]);
  const stats = await lstat(entry).catch(() => undefined);
  return stats && fileInfo(posix.join(directory.path, bytes.toString()), stats);
}

export const fileInfo = (path: string, stats: Stats): AgentSchemas["FileInfo"] =>
  entryInfo(path, { size: stats.size, mode: stats.mode, kind: kind(stats), modifiedAt: stats.mtime });

function kind(stats: Stats): string {
  if (stats.isDirectory()) return "d";
  if (stats.isSymbolicLink()) return "l";
  if (stats.isFIFO()) return "p";
  if (stats.isSocket()) return "s";
  if (stats.isCharacterDevice()) return "c";
  return stats.isBlockDevice() ? "b" : "-";
}
