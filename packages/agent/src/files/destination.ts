import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { posix } from "node:path";
import { pathProblem } from "./file-problem.js";
import type { Pin, ServedTree } from "./served-tree.js";

/** Permissions of a new file. */
const newFile = 0o644;
/** Most symbolic links that are followed, as in the kernel. */
const mostLinks = 40;

/** The directory and name that a file is written to. */
export class Destination implements Disposable {
  private constructor(
    readonly directory: Pin,
    private readonly name: string,
  ) {}

  /**
   * Where a write to `path` goes. A symbolic link is followed as open(2) follows it: to a file that need not exist, in a
   * directory that must. Missing parents of the path itself are created.
   */
  static async of(tree: ServedTree, path: string, overwrite: boolean): Promise<Destination> {
    // A served root cannot be a file, and its parent directory is not served.
    if (tree.isRoot(path)) throw isDirectory(path);
    let directory = await tree.pinDirectory(posix.dirname(path), true);
    try {
      let name = posix.basename(path);
      for (let links = 0; links <= mostLinks; links += 1) {
        const existing = statsIfThere(directory.entry(name));
        if (!existing?.isSymbolicLink()) {
          refuseToReplace(existing, path, overwrite);
          return new Destination(directory, name);
        }
        if (!overwrite) throw alreadyThere(path);
        const target = readlinkSync(directory.entry(name));
        name = posix.basename(target);
        if (target.endsWith("/") || name === "." || name === "..") throw isDirectory(path);
        const parent = target.slice(0, target.length - name.length);
        // Not normalized: the kernel resolves `..`, because a directory before it may be a link too.
        const next = await tree.pin(parent.startsWith("/") ? parent : `${directory.realPath}/${parent}`);
        directory.close();
        directory = next;
      }
      throw pathProblem(400, "INVALID_PATH", `${path} leads through too many symbolic links.`, path);
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  get entry(): string {
    return this.directory.entry(this.name);
  }

  /** The permissions of the file that is there, which the one that replaces it keeps; 0644 for a new one. */
  get mode(): number {
    return (statsIfThere(this.entry)?.mode ?? newFile) & 0o777;
  }

  [Symbol.dispose](): void {
    this.directory.close();
  }
}

/**
 * Describes the file at `path`. Undefined on any error: whatever makes `lstat` fail also fails the write that follows,
 * which reports the error.
 */
export function statsIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

export const alreadyThere = (path: string) =>
  pathProblem(409, "FILE_ALREADY_EXISTS", `${path} exists already.`, path);

function refuseToReplace(existing: Stats | undefined, path: string, overwrite: boolean): void {
  if (!existing) return;
  if (existing.isDirectory()) throw isDirectory(path);
  if (!existing.isFile()) throw pathProblem(400, "INVALID_PATH", `${path} is not a regular file.`, path);
  if (!overwrite) throw alreadyThere(path);
}

const isDirectory = (path: string) => pathProblem(400, "INVALID_PATH", `${path} is a directory.`, path);
