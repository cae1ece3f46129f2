import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { type BytePath, bytesOf } from "./byte-path.js";
import type { ContentReader } from "./content-stream.js";
import { digestOf, digestOfTarget } from "./file-content.js";
import { type HostEntry, hostEntryOf, isDirectoryEntry, isSameEntry } from "./host-manifest.js";
import { type KnownEntries, KnownTrees } from "./known-trees.js";
import { staysInside } from "./link-target.js";
import { changedSince, conflict, NotApplied, reasonOf, refused } from "./not-applied.js";
import type { OpenDirectory } from "./open-directory.js";
import { isExecutable } from "./tree-comparison.js";

/** One accepted change, with its path below the directory. */
export interface Operation {
  readonly path: BytePath;
  readonly kind: "added" | "changed" | "removed" | "mode";
  readonly type: "file" | "directory" | "link";
  readonly executable?: boolean;
  /** The digest of what was reviewed. Undefined if any content is accepted. */
  readonly digest?: string | undefined;
  readonly target?: BytePath;
}

export interface OperationResult {
  readonly path: BytePath;
  readonly status: "applied" | "conflict" | "refused";
  readonly reason?: string;
  readonly note?: string;
}

const temporary = /^\.cloud-sandbox-[0-9a-f]{16}$/;
const temporaryName = (): string => `.cloud-sandbox-${randomBytes(8).toString("hex")}`;

/**
 * Writes accepted changes to a directory. A file is written under a temporary name beside its place and moved there, so that each file
 * is the old or the new one whenever this process is killed. Everything is reached by descriptors, and no link is followed.
 */
export class HostWriter {
  readonly #device: bigint;
  readonly #trees: KnownTrees;
  readonly #cleaned = new Set<bigint>();

  constructor(
    private readonly root: OpenDirectory,
    private readonly known: KnownEntries,
    /** Whether nothing is written: the outcomes are what they would be. */
    private readonly isCheck: boolean,
    private readonly onResult: (result: OperationResult) => void,
  ) {
    this.#device = root.status().dev;
    this.#trees = new KnownTrees(known, this.#device, isCheck);
  }

  /** Applies operations in this order. The contents of files come in the same order, unless it is a check. */
  apply(operations: readonly Operation[], contents: ContentReader): void {
    let stopped: string | undefined;
    for (const operation of operations) {
      const { path } = operation;
      const skip = (): void => {
        if (hasContent(operation) && !this.isCheck) contents.content(() => undefined);
      };
      if (stopped !== undefined) {
        skip();
        this.onResult({ path, status: "refused", reason: `nothing more was written: ${stopped}` });
        continue;
      }
      // Read from the stream exactly once, whatever happens to the file.
      let isRead = false;
      const read = (onPiece: (piece: Buffer) => void): boolean => {
        isRead = true;
        return contents.content(onPiece);
      };
      try {
        const note = this.#apply(operation, read);
        if (!isRead) skip();
        this.onResult({ path, status: "applied", ...(note !== undefined && { note }) });
      } catch (error) {
        if (!isRead) skip();
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOSPC" || code === "EDQUOT") stopped = "the disk is full";
        const status = error instanceof NotApplied ? error.status : "refused";
        this.onResult({ path, status, reason: reasonOf(error) });
      }
    }
  }

  #apply(operation: Operation, read: (onPiece: (piece: Buffer) => void) => boolean): string | undefined {
    const { path, kind } = operation;
    const names = path.split("/");
    const name = names.pop() ?? "";
    const parent = this.#open(names, kind !== "removed");
    // Its directory is gone, or would be made.
    if (!parent) return undefined;
    try {
      this.#removeLeftovers(parent);
      const current = parent.entry(name);
      if (current && current.dev !== this.#device) throw refused("another file system is mounted there");
      if (kind === "removed") return this.#remove(path, parent, name);
      if (operation.type === "directory") return this.#makeDirectory(path, parent, name);
      if (operation.type === "link") return this.#makeLink(operation, parent, name);
      if (kind === "mode") return this.#setMode(operation, parent, name);
      return this.#writeFile(operation, parent, name, read);
    } finally {
      if (parent !== this.root) parent.close();
    }
  }

  /** Opens a directory below the root, on its own file system; undefined if it does not exist and is not made. */
  #open(names: readonly BytePath[], makes: boolean): OpenDirectory | undefined {
    let at = this.root;
    for (const [index, name] of names.entries()) {
      try {
        if (makes && !this.isCheck && !at.entry(name)) {
          mkdirSync(at.at(name), 0o755);
          this.#noteEntry(names.slice(0, index + 1).join("/"), at, name);
        }
        const next = at.directory(name);
        if (at !== this.root) at.close();
        at = next;
        if (at.status().dev !== this.#device) throw refused("another file system is mounted there");
      } catch (error) {
        if (at !== this.root) at.close();
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") return undefined;
        if (code === "ENOTDIR" || code === "ELOOP")
          throw refused("a link or a file is in the place of its directory");
        throw error;
      }
    }
    return at;
  }

  /** Removes temporary files of an earlier apply that was killed, before this one makes any in the directory. */
  #removeLeftovers(directory: OpenDirectory): void {
    const { ino } = directory.status();
    if (this.isCheck || this.#cleaned.has(ino)) return;
    this.#cleaned.add(ino);
    for (const name of directory.names()) {
      if (!temporary.test(name)) continue;
      const entry = directory.entry(name);
      if (entry && !entry.isDirectory()) unlinkSync(directory.at(name));
    }
  }

  #writeFile(
    operation: Operation,
    parent: OpenDirectory,
    name: BytePath,
    read: (onPiece: (piece: Buffer) => void) => boolean,
  ): string | undefined {
    const { path, executable = false, digest } = operation;
    const current = parent.entry(name);
    const before = current && hostEntryOf(current);
    const isUnchanged = isSameEntry(this.known.get(path), before);
    const plain = executable ? 0o755 : 0o644;
    const mode = current?.isFile() ? permissions(Number(current.mode), executable) : plain;
    /** Whether the file is there already, as after an apply that was killed before it could say so. */
    const isThere = (content: string | undefined): boolean =>
      current?.isFile() === true &&
      permissions(Number(current.mode), executable) === Number(current.mode & 0o777n) &&
      content !== undefined &&
      attemptedDigest(parent, name) === content;
    if (this.isCheck) {
      if (!isUnchanged && !isThere(digest)) throw conflict(changedSince);
      return undefined;
    }
    const temporaryFile = temporaryName();
    const file = openSync(
      parent.at(temporaryFile),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      const hash = createHash("sha256");
      let written: string;
      try {
        const isWhole = read((piece) => {
          hash.update(piece);
          for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
        });
        written = hash.digest("hex");
        if (!isWhole) throw conflict("it changed in the sandbox while it was read");
        if (digest !== undefined && written !== digest)
          throw conflict("it changed in the sandbox since the review");
        fchmodSync(file, mode);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      if (!isUnchanged) {
        if (!isThere(written)) throw conflict(changedSince);
        this.known.note(path, before);
        return undefined;
      }
      if (current?.isDirectory()) this.#trees.remove(path, parent, name);
      this.#giveName(parent, temporaryFile, name, current?.isDirectory() ? undefined : before);
      this.#noteEntry(path, parent, name);
      return current?.isFile() && current.nlink > 1n
        ? "the file had other names, which keep the old content"
        : undefined;
    } finally {
      unlinkIfThere(parent, temporaryFile);
    }
  }

  /** Gives a temporary file its name. `before` is what has the name now, if anything has. */
  #giveName(
    parent: OpenDirectory,
    temporaryFile: BytePath,
    name: BytePath,
    before: HostEntry | undefined,
  ): void {
    if (!before) {
      // Unlike a rename, this replaces nothing that somebody has just made.
      try {
        linkSync(parent.at(temporaryFile), parent.at(name));
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === "EEXIST" ? conflict(changedSince) : error;
      }
      parent.sync();
      return;
    }
    // The old file keeps a name until it is certain that nobody wrote to it meanwhile.
    const kept = temporaryName();
    linkSync(parent.at(name), parent.at(kept));
    try {
      if (!this.#isStill(before, parent, kept)) throw conflict(changedSince);
      renameSync(parent.at(temporaryFile), parent.at(name));
      if (!this.#isStill(before, parent, kept)) {
        renameSync(parent.at(kept), parent.at(name));
        throw conflict(changedSince);
      }
      parent.sync();
    } finally {
      unlinkIfThere(parent, kept);
    }
  }

  #isStill(before: HostEntry, parent: OpenDirectory, name: BytePath): boolean {
    const entry = parent.entry(name);
    return entry !== undefined && isSameEntry(before, hostEntryOf(entry));
  }

  #setMode({ path, executable = false }: Operation, parent: OpenDirectory, name: BytePath): undefined {
    const current = parent.entry(name);
    if (!current?.isFile()) throw conflict(changedSince);
    if (isExecutable(current) === executable) return;
    if (!isSameEntry(this.known.get(path), hostEntryOf(current))) throw conflict(changedSince);
    if (this.isCheck) return;
    const file = openSync(parent.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      fchmodSync(file, permissions(Number(current.mode), executable));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    this.#noteEntry(path, parent, name);
  }

  #makeLink({ path, target = "", digest }: Operation, parent: OpenDirectory, name: BytePath): undefined {
    if (digest !== undefined && digestOfTarget(target) !== digest)
      throw conflict("it changed in the sandbox since the review");
    if (!staysInside(path, target)) throw refused("the link leads out of the directory, or may do so");
    const current = parent.entry(name);
    if (current?.isSymbolicLink() && parent.linkTarget(name) === target) return;
    const before = current && hostEntryOf(current);
    if (!isSameEntry(this.known.get(path), before)) throw conflict(changedSince);
    if (this.isCheck) return;
    const temporaryLink = temporaryName();
    symlinkSync(bytesOf(target), parent.at(temporaryLink));
    try {
      if (before && isDirectoryEntry(before)) {
        this.#trees.remove(path, parent, name);
        this.#giveName(parent, temporaryLink, name, undefined);
      } else this.#giveName(parent, temporaryLink, name, before);
      this.#noteEntry(path, parent, name);
    } finally {
      unlinkIfThere(parent, temporaryLink);
    }
  }

  #makeDirectory(path: BytePath, parent: OpenDirectory, name: BytePath): undefined {
    const current = parent.entry(name);
    if (current?.isDirectory()) return;
    if (current && !isSameEntry(this.known.get(path), hostEntryOf(current))) throw conflict(changedSince);
    if (this.isCheck) return;
    if (current) unlinkSync(parent.at(name));
    mkdirSync(parent.at(name), 0o755);
    parent.sync();
    this.#noteEntry(path, parent, name);
  }

  #remove(path: BytePath, parent: OpenDirectory, name: BytePath): undefined {
    const current = parent.entry(name);
    if (!current) {
      this.known.note(path, undefined);
      return;
    }
    if (!isSameEntry(this.known.get(path), hostEntryOf(current))) throw conflict(changedSince);
    if (current.isDirectory()) this.#trees.remove(path, parent, name);
    else if (!this.isCheck) {
      unlinkSync(parent.at(name));
      parent.sync();
      this.known.note(path, undefined);
    }
  }

  #noteEntry(path: BytePath, parent: OpenDirectory, name: BytePath): void {
    const entry = parent.entry(name);
    this.known.note(path, entry && hostEntryOf(entry));
  }
}

/** Whether the content of a file comes with the operation. */
export const hasContent = ({ kind, type }: Operation): boolean =>
  type === "file" && (kind === "added" || kind === "changed");

/** The host's permissions, which may be executed or not: by those who may read, as git does it. Never set-uid, set-gid or sticky. */
function permissions(mode: number, executable: boolean): number {
  const readable = mode & 0o444;
  return executable ? (mode & 0o777) | (readable >> 2) : mode & 0o666;
}

function attemptedDigest(parent: OpenDirectory, name: BytePath): string | undefined {
  try {
    return digestOf(parent, name);
  } catch {
    return undefined;
  }
}

function unlinkIfThere(parent: OpenDirectory, name: BytePath): void {
  try {
    unlinkSync(parent.at(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
