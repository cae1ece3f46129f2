import { type FSWatcher, type Stats, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { posix } from "node:path";
import { exhausted } from "../execution/programs/start-failure.js";
import { failedWith } from "../files/file-problem.js";
import type { Pin } from "../files/served-tree.js";
import type { WatchBudget } from "./watch-budget.js";

/** Number of entries that are examined at the same time. */
const breadth = 64;

/**
 * Identifies a file independently of its name: tells two files of the same name apart, and recognizes a file that was
 * renamed.
 */
export interface Identity {
  readonly inode: number;
  /** Creation time. Needed because inode numbers are soon reused; together they are unique. */
  readonly born: number;
  readonly isDirectory: boolean;
  /** Whether it is a file that is not empty. Not part of the identity: it tells whether a new file was written to. */
  readonly hasContent: boolean;
}

export interface PendingChange {
  /** Whether the entry's content or attributes changed. */
  readonly isChanged: boolean;
  /** How often the entry appeared or disappeared. */
  readonly renames: number;
  /** Whether a comparison has examined the entry already and kept it until its deletion event arrives. */
  readonly isKept?: boolean;
}

/**
 * Watches one directory without its subdirectories: the entries at the last comparison, and those with events since.
 */
export class WatchedDirectory {
  readonly entries = new Map<string, Identity>();
  /** Entries with events since the last comparison, by name. */
  readonly dirty = new Map<string, PendingChange>();
  /** The name that the system uses for this directory in events about itself. */
  readonly ownName: string;
  readonly #watcher: FSWatcher;
  #isClosed = false;

  private constructor(
    pin: Pin,
    private readonly budget: WatchBudget,
    onDirty: () => void,
  ) {
    this.ownName = posix.basename(pin.location);
    this.#watcher = start(pin);
    this.#watcher.on("change", (kind, name) => {
      const { isChanged, renames } = this.dirty.get(String(name)) ?? { isChanged: false, renames: 0 };
      const isContent = kind === "change";
      this.dirty.set(String(name), {
        isChanged: isChanged || isContent,
        renames: renames + (isContent ? 0 : 1),
      });
      onDirty();
    });
    // The directory was deleted, so the watch ends. The deletion is reported by the watch of its parent.
    this.#watcher.on("error", () => undefined);
  }

  /** Starts the watch before it lists the entries, so that no change in between is missed. */
  static async open(pin: Pin, budget: WatchBudget, onDirty: () => void): Promise<WatchedDirectory> {
    budget.takeDirectory();
    let directory: WatchedDirectory;
    try {
      directory = new WatchedDirectory(pin, budget, onDirty);
    } catch (error) {
      budget.giveBackDirectory(0);
      throw error;
    }
    try {
      const names = await readdir(pin.location);
      for (let from = 0; from < names.length; from += breadth)
        await Promise.all(names.slice(from, from + breadth).map((name) => directory.#add(pin, name)));
      return directory;
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  async #add(pin: Pin, name: string): Promise<void> {
    const identity = await identityOf(pin.entry(name));
    // Another entry may have been one too many meanwhile: what is taken now would never be given back.
    if (identity && !this.#isClosed) this.set(name, identity);
  }

  set(name: string, identity: Identity): void {
    if (!this.entries.has(name)) this.budget.takeEntry();
    this.entries.set(name, identity);
  }

  delete(name: string): void {
    if (this.entries.delete(name)) this.budget.giveBackEntry();
  }

  /**
   * Keeps a name that appeared but no longer exists until its deletion event, which the system has already queued,
   * arrives.
   */
  keepForDeletion(name: string): void {
    const { isChanged, renames } = this.dirty.get(name) ?? { isChanged: false, renames: 0 };
    this.dirty.set(name, { isChanged, renames: renames + 1, isKept: true });
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher.close();
    this.budget.giveBackDirectory(this.entries.size);
    this.entries.clear();
  }
}

function start(pin: Pin): FSWatcher {
  try {
    return watch(pin.location, { persistent: false });
  } catch (error) {
    if (failedWith(error, "ENOSPC", "EMFILE"))
      throw exhausted(
        "The machine's limit of watched directories is reached (fs.inotify.max_user_watches and max_user_instances). End other watches, or raise the limit.",
      );
    throw error;
  }
}

/**
 * The identity of the file or directory at a path; a symbolic link is not followed. Undefined if the path does not
 * exist.
 */
export async function identityOf(path: string): Promise<Identity | undefined> {
  try {
    const stats: Stats = await lstat(path);
    return {
      inode: stats.ino,
      born: stats.birthtimeMs,
      isDirectory: stats.isDirectory(),
      hasContent: stats.isFile() && stats.size > 0,
    };
  } catch {
    return undefined;
  }
}

export const isSame = (one: Identity, other: Identity) =>
  one.inode === other.inode && one.born === other.born && one.isDirectory === other.isDirectory;
