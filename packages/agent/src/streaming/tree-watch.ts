import { posix } from "node:path";
import { isTemporaryName } from "../files/file-service.js";
import { isMissing, type ServedTree } from "../files/served-tree.js";
import type { WatchBudget } from "./watch-budget.js";
import { type Identity, identityOf, isSame, WatchedDirectory } from "./watched-directory.js";

export interface Change {
  readonly event: "created" | "modified" | "deleted" | "renamed";
  readonly path: string;
  readonly oldPath?: string;
}

export interface TreeWatchOptions {
  readonly tree: ServedTree;
  readonly budget: WatchBudget;
  readonly tell: (change: Change) => void;
  /** Called with an error when part of the tree can no longer be watched. */
  readonly fail: (error: unknown) => void;
}

/** Milliseconds to wait before changes are compared, so that both events of a rename have arrived. */
const settleTime = 20;

/**
 * Watches a directory and all its subdirectories. Symbolic links are reported as entries but not followed. Each
 * directory is pinned before it is watched, so that nothing outside the served tree is watched if programs replace a
 * directory with a link.
 */
export class TreeWatch {
  /** Watched directories by their path relative to the root of the watch, which is "". */
  readonly #directories = new Map<string, WatchedDirectory>();
  #settling: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(
    private readonly path: string,
    private readonly realPath: string,
    private readonly options: TreeWatchOptions,
  ) {}

  /** Starts the watch. Resolves when every later change will be reported. */
  static async open(path: string, options: TreeWatchOptions): Promise<TreeWatch> {
    await using pin = await options.tree.pinDirectory(path);
    const watch = new TreeWatch(path, pin.realPath, options);
    try {
      await watch.#add("");
      return watch;
    } catch (error) {
      watch.close();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#settling);
    this.#remove("");
  }

  /** Watches a directory and its subdirectories. `found` is called with every entry. */
  async #add(relative: string, found?: Found): Promise<void> {
    const directory = await this.#watch(relative);
    for (const [name, identity] of directory ? [...directory.entries] : []) {
      const entry = posix.join(relative, name);
      found?.(entry, identity);
      if (identity.isDirectory) await this.#addIfThere(entry, found);
    }
  }

  async #addIfThere(relative: string, found?: Found): Promise<void> {
    try {
      await this.#add(relative, found);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async #watch(relative: string): Promise<WatchedDirectory | undefined> {
    const { tree, budget } = this.options;
    await using pin = await tree.pinDirectory(this.#absolute(relative));
    // The path now leads elsewhere: a symbolic link has replaced a directory.
    if (pin.realPath !== posix.join(this.realPath, relative)) return undefined;
    const directory = await WatchedDirectory.open(pin, budget, () => this.#settle());
    if (this.#isClosed || this.#directories.has(relative)) {
      directory.close();
      return undefined;
    }
    this.#directories.set(relative, directory);
    return directory;
  }

  #remove(relative: string): void {
    for (const [path, directory] of this.#below(relative)) {
      directory.close();
      this.#directories.delete(path);
    }
  }

  /**
   * Renames watched directories. Their watchers stay valid, so only the paths change; all at once, because two
   * directories may have been swapped.
   */
  #move(moves: ReadonlyMap<NewEntry, GoneEntry>): void {
    const renamed = new Map<string, WatchedDirectory>();
    for (const [{ path: to }, { path: from }] of moves) {
      for (const [path, directory] of this.#below(from)) {
        this.#directories.delete(path);
        renamed.set(to + path.slice(from.length), directory);
      }
    }
    for (const [path, directory] of renamed) this.#directories.set(path, directory);
  }

  #below(relative: string): [string, WatchedDirectory][] {
    return [...this.#directories].filter(
      ([path]) => relative === "" || path === relative || path.startsWith(`${relative}/`),
    );
  }

  #settle(): void {
    if (this.#isClosed) return;
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      this.#work = this.#work.then(() => this.#applyChanges()).catch((error) => this.options.fail(error));
    }, settleTime);
  }

  async #applyChanges(): Promise<void> {
    const { gone, arrived } = await this.#compare();
    if (this.#isClosed) return;
    const moves = new Map<NewEntry, GoneEntry>();
    for (const added of arrived) {
      const from = gone.find(({ identity }) => isSame(identity, added.identity));
      if (from) moves.set(added, from);
    }
    const moved = new Set(moves.values());
    for (const removed of gone) {
      this.#directories.get(removed.parent)?.delete(removed.name);
      if (moved.has(removed)) continue;
      if (removed.identity.isDirectory) this.#remove(removed.path);
      this.#tell("deleted", removed.path);
    }
    this.#move(moves);
    for (const added of arrived) await this.#addEntry(added, moves.get(added));
  }

  async #addEntry({ parent, name, path, identity, replaces }: NewEntry, from: GoneEntry | undefined) {
    const { fail } = this.options;
    try {
      this.#directories.get(parent)?.set(name, identity);
    } catch (error) {
      fail(error);
    }
    if (from) this.#tell("renamed", path, from.path);
    else if (replaces) this.#tell("modified", path);
    else this.#tellNew(path, identity);
    if (!identity.isDirectory || this.#directories.has(path)) return;
    await this.#addIfThere(path, (...found) => this.#tellNew(...found)).catch(fail);
  }

  /**
   * Compares the entries that had events with the file system: returns those that disappeared and those that
   * appeared. Content changes are reported right away.
   */
  async #compare(): Promise<{ readonly gone: GoneEntry[]; readonly arrived: NewEntry[] }> {
    const gone: GoneEntry[] = [];
    const arrived: NewEntry[] = [];
    for (const [parent, directory] of [...this.#directories]) {
      const { dirty, entries } = directory;
      const changes = [...dirty];
      dirty.clear();
      for (const [name, { isChanged, renames, isKept }] of changes) {
        const path = posix.join(parent, name);
        const before = entries.get(name);
        const identity = await identityOf(this.#absolute(path));
        const entry = { parent, name, path };
        if (before && identity && isSame(before, identity)) {
          if (isChanged && !identity.isDirectory) this.#tell("modified", path);
        } else if (identity) {
          const replaces = before !== undefined && !before.isDirectory && !identity.isDirectory;
          if (before && !replaces) gone.push({ ...entry, identity: before });
          arrived.push({ ...entry, identity, replaces });
        } else if (before) gone.push({ ...entry, identity: before });
        else if (renames > 1 && (await this.#wasEntry(directory, entry))) {
          this.#tell("created", path);
          this.#tell("deleted", path);
        } else {
          if (renames === 1 && !isKept && name !== directory.ownName) directory.keepForDeletion(name);
          if (parent === "") await this.#checkRoot();
        }
      }
    }
    return { gone, arrived };
  }

  /**
   * Whether a name that appeared and disappeared since the last comparison was a real entry, not a temporary file of
   * the agent's or the directory's own name.
   */
  async #wasEntry(directory: WatchedDirectory, { name, parent }: Entry): Promise<boolean> {
    if (isTemporaryName(name)) return false;
    return name !== directory.ownName || (await identityOf(this.#absolute(parent))) !== undefined;
  }

  /**
   * The system reports the deletion of a watched directory as an event for an entry that does not exist. So check
   * whether the root is gone, and if so, report that and stop.
   */
  async #checkRoot(): Promise<void> {
    if (await identityOf(this.path)) return;
    this.#tell("deleted", "");
    this.close();
  }

  /** A new file with content was made and written to. The system tells that as two events, and clients count them. */
  #tellNew(path: string, { hasContent }: Identity): void {
    this.#tell("created", path);
    if (hasContent) this.#tell("modified", path);
  }

  #tell(event: Change["event"], relative: string, from?: string): void {
    if (this.#isClosed) return;
    const path = this.#absolute(relative);
    this.options.tell({ event, path, ...(from !== undefined && { oldPath: this.#absolute(from) }) });
  }

  #absolute(relative: string): string {
    return posix.join(this.path, relative);
  }
}

type Found = (path: string, identity: Identity) => void;

interface Entry {
  /** Path of the entry's directory, relative to the root of the watch. */
  readonly parent: string;
  readonly name: string;
  readonly path: string;
}

interface GoneEntry extends Entry {
  readonly identity: Identity;
}

interface NewEntry extends Entry {
  readonly identity: Identity;
  /** Whether the entry replaces another file of the same name. */
  readonly replaces: boolean;
}
