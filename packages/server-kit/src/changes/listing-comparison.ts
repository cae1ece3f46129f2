import type { EntryType, FileChange } from "./file-change.js";

/** One entry of a listing, in which a directory comes before what is in it, and names are in the order of their characters. */
export interface ListedEntry extends Pick<FileChange, "path" | "size" | "executable" | "target" | "skipped"> {
  /** `mount`: something from outside, which is not compared. */
  readonly type: EntryType | "mount";
  /** When a file changed last: equal texts are equal times. */
  readonly modified?: string | undefined;
  /** Whether a directory is the one that all sandboxes of a template have. Then nothing in it is listed. */
  readonly untouched?: boolean | undefined;
}

/** The files of one side of a comparison. */
export interface ListedFiles {
  /** Its entries, some at a time. */
  readonly entries: AsyncIterable<readonly ListedEntry[]>;
  /** SHA-256 of files and of links' targets, by path; without those that cannot be read. */
  digests(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Largest file whose content is read, in bytes, and most bytes that are read for one comparison. */
const largestFile = 256 * 1024 * 1024;
const mostBytes = 1024 * 1024 * 1024;
/** Paths, and their characters, whose digests are asked for at once. */
const mostPaths = 20_000;
const mostCharacters = 4 * 1024 * 1024;

interface ComparisonParts {
  readonly before: ListedFiles;
  readonly now: ListedFiles;
  readonly isVersionControl: (path: string) => boolean;
  /** Called with each change when it is found. May throw to end the comparison. */
  readonly onChange: (change: FileChange) => void;
}

/**
 * Compares two listings, by path: entries with the same type, size and time count as unchanged, all other files of equal size are
 * compared by their digests. Holds no more of the listings than what may have changed. Throws an {@link UnequalListingsError} if a
 * directory is untouched on one side alone.
 */
export async function compareListings(parts: ComparisonParts): Promise<FileChange[]> {
  const comparison = new Comparison(parts);
  const [old, current] = [new Cursor(parts.before.entries), new Cursor(parts.now.entries)];
  try {
    await Promise.all([old.next(), current.next()]);
    while (old.entry || current.entry) {
      const isOld = old.isAtOrBefore(current);
      const isCurrent = current.isAtOrBefore(old);
      const before = isOld ? old.entry : undefined;
      const entry = isCurrent ? current.entry : undefined;
      if (comparison.compare(before, entry)) await comparison.settle();
      // Most have their next entry already, and to wait for each takes longer than to compare it.
      if (isOld && !old.advance()) await old.next();
      if (isCurrent && !current.advance()) await current.next();
    }
    await comparison.settle();
    return comparison.changes();
  } finally {
    await Promise.all([old.close(), current.close()]);
  }
}

/** A listing leaves out what the other one has: they have to be read again, whole. */
export class UnequalListingsError extends Error {}

/** A listing as far as it was read. */
class Cursor {
  entry: ListedEntry | undefined;
  #key = "";
  #read: readonly ListedEntry[] = [];
  #index = 0;
  readonly #entries: AsyncIterator<readonly ListedEntry[]>;

  constructor(entries: AsyncIterable<readonly ListedEntry[]>) {
    this.#entries = entries[Symbol.asyncIterator]();
  }

  /** Goes on to the next entry, and reads on for it if it has to. */
  async next(): Promise<void> {
    while (!this.advance()) {
      const { value, done } = await this.#entries.next();
      if (done) return;
      this.#read = value;
      this.#index = 0;
    }
  }

  /** Goes on to the next entry that was read. False if there is none. */
  advance(): boolean {
    this.entry = this.#read[this.#index];
    if (!this.entry) return false;
    this.#index += 1;
    // Below this character is no name's, so that what is in a directory comes before its neighbours.
    const key = this.entry.path.replaceAll("/", "\0");
    if (key <= this.#key) throw new Error("its files are not listed in their order");
    this.#key = key;
    return true;
  }

  isAtOrBefore(other: Cursor): boolean {
    return this.entry !== undefined && (other.entry === undefined || this.#key <= other.#key);
  }

  async close(): Promise<void> {
    await this.#entries.return?.();
  }
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** A change whose content is to be read, and the file of equal size that it may be the same as. */
interface Pending {
  readonly change: Writable<FileChange>;
  readonly twin?: ListedEntry | undefined;
}

class Comparison {
  readonly #changes: FileChange[] = [];
  readonly #mounts: string[] = [];
  #pending: Pending[] = [];
  #characters = 0;
  #bytes = mostBytes;
  /** The mount that was met last, and the directory that is none any more. */
  #mount: string | undefined;
  #gone: Writable<FileChange> | undefined;

  constructor(private readonly parts: ComparisonParts) {}

  /** The changes. Directories that were made for mounts are none. */
  changes(): FileChange[] {
    const isForMount = ({ path, kind, type }: FileChange): boolean =>
      kind === "added" && type === "directory" && this.#mounts.some((mount) => isBelow(mount, path));
    return this.#changes
      .filter((change) => !isForMount(change))
      .sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Compares what is at one path. Returns whether enough content is to be read by now. */
  compare(before: ListedEntry | undefined, entry: ListedEntry | undefined): boolean {
    const path = (entry ?? before)?.path ?? "";
    if (isBelow(path, this.#mount)) return false;
    if (before?.untouched !== entry?.untouched) throw new UnequalListingsError();
    if (before?.type === "mount" || entry?.type === "mount") {
      this.#mount = path;
      if (entry) this.#mounts.push(path);
    } else if (entry) this.#compareEntry(entry, before);
    else if (isBelow(path, this.#gone?.path)) this.#count(path);
    else if (before) this.#add(this.#without({ path, kind: "removed", type: typeOf(before) }, before));
    return this.#pending.length >= mostPaths || this.#characters >= mostCharacters;
  }

  #compareEntry(entry: ListedEntry, before: ListedEntry | undefined): void {
    const { path, size, executable, target, skipped } = entry;
    const type = typeOf(entry);
    const isSameType = before?.type === type;
    const change = this.#without({ path, kind: before ? "changed" : "added", type }, before);
    if (type === "directory") {
      if (!isSameType || skipped) this.#add({ ...change, ...(skipped && { skipped }) });
    } else if (type === "other") {
      if (!isSameType) this.#add(change);
    } else if (type === "link") {
      if (!isSameType || before.target !== target) this.#read(Object.assign(change, { target }));
    } else {
      Object.assign(change, { size, executable });
      const isSameSize = isSameType && before.size === size;
      if (!isSameSize || before.modified !== entry.modified)
        this.#read(change, isSameSize ? before : undefined);
      else if (before.executable !== executable) this.#read(Object.assign(change, { kind: "mode" }));
    }
  }

  /** Lets what was in a directory be counted with a change by which it is none any more. */
  #without(change: Writable<FileChange>, before: ListedEntry | undefined): Writable<FileChange> {
    if (before?.type !== "directory" || (change.kind === "changed" && change.type === "directory"))
      return change;
    change.entries = 0;
    this.#gone = change;
    return change;
  }

  #count(path: string): void {
    const gone = this.#gone as Writable<FileChange>;
    gone.entries = (gone.entries ?? 0) + 1;
    if (this.parts.isVersionControl(path.slice(path.lastIndexOf("/") + 1))) gone.hasVersionControl = true;
  }

  #read(change: Writable<FileChange>, twin?: ListedEntry): void {
    this.#pending.push({ change, twin });
    this.#characters += change.path.length;
  }

  #add(change: FileChange): void {
    this.#changes.push(change);
    this.parts.onChange(change);
  }

  /** Reads the content that decides, and that changes are told with. */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#characters = 0;
    const paths = (read: readonly Pending[]): readonly string[] =>
      read.filter(({ change }) => this.#mayRead(change.size ?? 0)).map(({ change }) => change.path);
    const { now, before } = this.parts;
    const [digests, twins] = await Promise.all([
      digestsOf(now, paths(pending)),
      digestsOf(before, paths(pending.filter(({ twin }) => twin))),
    ]);
    for (const { change, twin } of pending) {
      const digest = digests.get(change.path);
      if (digest !== undefined) change.digest = digest;
      const isSame = twin !== undefined && digest !== undefined && digest === twins.get(change.path);
      if (isSame && twin.executable === change.executable) continue;
      if (isSame) change.kind = "mode";
      this.#add(change);
    }
  }

  #mayRead(size: number): boolean {
    if (size > largestFile || size > this.#bytes) return false;
    this.#bytes -= size;
    return true;
  }
}

async function digestsOf(files: ListedFiles, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return paths.length > 0 ? files.digests(paths) : new Map();
}

const typeOf = ({ type }: ListedEntry): EntryType => (type === "mount" ? "other" : type);

const isBelow = (path: string, directory: string | undefined): boolean =>
  directory !== undefined && path.startsWith(`${directory}/`);
