import { rmdirSync, unlinkSync } from "node:fs";
import type { BytePath } from "./byte-path.js";
import { type HostEntry, hostEntryOf, isSameEntry } from "./host-manifest.js";
import { conflict, refused } from "./not-applied.js";
import type { OpenDirectory } from "./open-directory.js";

/** The entries of the host's directory when it was mounted, and those that were written since. */
export interface KnownEntries {
  get(path: BytePath): HostEntry | undefined;
  /** Remembers what is at a path now, so that the next change of it is no conflict. */
  note(path: BytePath, entry: HostEntry | undefined): void;
}

/** Removes directories entry by entry, and only what was there when the sandbox got its copy. */
export class KnownTrees {
  constructor(
    private readonly known: KnownEntries,
    private readonly device: bigint,
    /** Whether nothing is removed. */
    private readonly isCheck: boolean,
  ) {}

  /** Removes an entry and what was below it at the mount. What was added or changed since stays, and is a conflict. */
  remove(path: BytePath, parent: OpenDirectory, name: BytePath): void {
    const entry = parent.entry(name);
    if (!entry) return;
    if (!entry.isDirectory()) {
      if (!this.isCheck) unlinkSync(parent.at(name));
      this.known.note(path, undefined);
      return;
    }
    const rest = this.#emptyTree(path, parent, name);
    if (rest > 0) throw conflict(`${rest} of its entries were added or changed since, and stay`);
    if (this.isCheck) return;
    rmdirSync(parent.at(name));
    parent.sync();
    this.known.note(path, undefined);
  }

  /** Removes what is known in a directory. Returns how many entries stay. */
  #emptyTree(path: BytePath, parent: OpenDirectory, name: BytePath): number {
    const directory = parent.directory(name);
    let rest = 0;
    try {
      if (directory.status().dev !== this.device) throw refused("another file system is mounted there");
      for (const each of directory.names()) {
        const entry = directory.entry(each);
        if (!entry) continue;
        const below = `${path}/${each}`;
        const before = this.known.get(below);
        if (!before || entry.dev !== this.device || !isSameEntry(before, hostEntryOf(entry))) rest += 1;
        else if (!entry.isDirectory()) {
          if (this.isCheck) continue;
          unlinkSync(directory.at(each));
          this.known.note(below, undefined);
        } else {
          const stays = this.#emptyTree(below, directory, each);
          rest += stays;
          if (stays > 0 || this.isCheck) continue;
          rmdirSync(directory.at(each));
          this.known.note(below, undefined);
        }
      }
      return rest;
    } finally {
      directory.close();
    }
  }
}
