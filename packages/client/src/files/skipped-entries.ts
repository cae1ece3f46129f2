/** Something in a directory that was not copied. */
export interface SkippedEntry {
  /** Path in the directory, with slashes. */
  path: string;
  /** Why, as the end of a sentence: "it is a pipe". */
  reason: string;
  /** Whether it is only a symbolic link, to something that is not in the directory: no content is missing. */
  isLink: boolean;
}

/** What `uploadDirectory` and `downloadDirectory` did. */
export interface DirectoryTransfer {
  /** What was not copied, at most 1,000 entries. A last one says how many more there are. */
  skipped: SkippedEntry[];
}

const mostNamed = 1000;

/** Gathers what is not copied. Bounded, because a sandbox decides how much that is. */
export class SkippedEntries {
  readonly #named: SkippedEntry[] = [];
  #others = 0;

  add(path: string, reason: string, { isLink = false } = {}): void {
    if (this.#named.length < mostNamed) this.#named.push({ path, reason, isLink });
    else this.#others += 1;
  }

  get list(): SkippedEntry[] {
    if (this.#others === 0) return this.#named;
    const reason = `it has ${this.#others} more entries that were not copied`;
    return [...this.#named, { path: ".", reason, isLink: false }];
  }
}
