import { type FSWatcher, type Stats, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { posix } from "node:path";
import { exhausted } from "../execution/programs/start-failure.js";
import { failedWith } from "../files/file-problem.js";
import type { Pin } from "../files/served-tree.js";
import type { WatchBudget } from "./watch-budget.js";

/** Entries that are looked at at the same time. */
const breadth = 64;

/** What tells an entry from another of the same name, and that it is the same under another name. */
export interface Identity {
  readonly inode: number;
  /** Inodes are used again, soon: with the time of its birth it is one of its own. */
  readonly born: number;
  readonly isDirectory: boolean;
}

export interface Happening {
  /** Whether its content or its attributes changed. */
  readonly isChanged: boolean;
  /** How often it appeared or disappeared. */
  readonly turns: number;
  /** Whether it was looked at after the first turn and left for the second. */
  readonly wasLeft?: boolean;
}

/** One directory without those below: the entries it had when last looked at, and which of them to look at again. */
export class WatchedDirectory {
  readonly entries = new Map<string, Identity>();
  /** Names of entries that something happened to. */
  readonly dirty = new Map<string, Happening>();
  /** What the system calls this directory in an event about itself. */
  readonly ownName: string;
  readonly #watcher: FSWatcher;

  private constructor(
    pin: Pin,
    private readonly budget: WatchBudget,
    onDirty: () => void,
  ) {
    this.ownName = posix.basename(pin.location);
    this.#watcher = start(pin);
    this.#watcher.on("change", (kind, name) => {
      const { isChanged, turns } = this.dirty.get(String(name)) ?? { isChanged: false, turns: 0 };
      const isContent = kind === "change";
      this.dirty.set(String(name), { isChanged: isChanged || isContent, turns: turns + (isContent ? 0 : 1) });
      onDirty();
    });
    // It is not watched any more; that its entries are gone is noticed where it was an entry itself.
    this.#watcher.on("error", () => undefined);
  }

  /** Begins to watch, then looks at what is there: nothing is missed in between. */
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
    if (identity) this.set(name, identity);
  }

  set(name: string, identity: Identity): void {
    if (!this.entries.has(name)) this.budget.takeEntry();
    this.entries.set(name, identity);
  }

  delete(name: string): void {
    if (this.entries.delete(name)) this.budget.giveBackEntry();
  }

  /** Leaves a name that appeared and is gone already for the event of its end, which the system has queued. */
  leave(name: string): void {
    const { isChanged, turns } = this.dirty.get(name) ?? { isChanged: false, turns: 0 };
    this.dirty.set(name, { isChanged, turns: turns + 1, wasLeft: true });
  }

  close(): void {
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
        "The machine's limit of watched directories is reached (fs.inotify.max_user_watches and max_user_instances). End other watches, or raise it.",
      );
    throw error;
  }
}

/** Of what a path names, symbolic links included; nothing when it is not there. */
export async function identityOf(path: string): Promise<Identity | undefined> {
  try {
    const stats: Stats = await lstat(path);
    return { inode: stats.ino, born: stats.birthtimeMs, isDirectory: stats.isDirectory() };
  } catch {
    return undefined;
  }
}

export const isSame = (one: Identity, other: Identity) =>
  one.inode === other.inode && one.born === other.born && one.isDirectory === other.isDirectory;
