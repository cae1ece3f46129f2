import type { BigIntStats } from "node:fs";
import type { BytePath } from "./byte-path.js";
import type { OpenDirectory } from "./open-directory.js";
import { mostLevels } from "./tree-comparison.js";

/** Most files and directories of a directory that can be copied. */
export const mostEntries = 1_000_000;

/** What tells whether an entry of the host's directory is still the one that was there when it was mounted. */
export interface HostEntry {
  /** The type and the permissions. */
  readonly mode: number;
  readonly size: bigint;
  readonly inode: bigint;
  readonly modified: bigint;
}

export class TooManyEntriesError extends Error {}

export const hostEntryOf = ({ mode, size, ino, mtimeNs }: BigIntStats): HostEntry => ({
  mode: Number(mode),
  size,
  inode: ino,
  modified: mtimeNs,
});

const fileType = 0o170000;
const directoryType = 0o040000;

export const isDirectoryEntry = ({ mode }: HostEntry): boolean => (mode & fileType) === directoryType;

/** Whether two entries are one that has not changed. A directory may have other entries. */
export function isSameEntry(one: HostEntry | undefined, other: HostEntry | undefined): boolean {
  if (!one || !other) return one === other;
  if (isDirectoryEntry(one)) return isDirectoryEntry(other);
  return (
    one.mode === other.mode &&
    one.size === other.size &&
    one.inode === other.inode &&
    one.modified === other.modified
  );
}

/** A manifest has one such record for each entry, and may have a later one for the same path. */
export function manifestRecord(path: BytePath, entry: HostEntry | undefined): string {
  if (!entry) return `- ${path}\0`;
  const { mode, size, inode, modified } = entry;
  return `${mode} ${size} ${inode} ${modified} ${path}\0`;
}

/** Passes on a record for each entry below a directory, on its own file system alone. Throws a {@link TooManyEntriesError}. */
export function writeManifest(root: OpenDirectory, write: (record: string) => void): void {
  const { dev } = root.status();
  let count = 0;
  const list = (parent: BytePath, at: OpenDirectory, level: number): void => {
    for (const name of at.names()) {
      const entry = at.entry(name);
      if (!entry || entry.dev !== dev) continue;
      count += 1;
      if (count > mostEntries) throw new TooManyEntriesError();
      const path = parent + name;
      write(manifestRecord(path, hostEntryOf(entry)));
      if (!entry.isDirectory() || level >= mostLevels) continue;
      const below = openUnlessChanged(at, name);
      if (!below) continue;
      try {
        list(`${path}/`, below, level + 1);
      } finally {
        below.close();
      }
    }
  };
  list("", root, 1);
}

function openUnlessChanged(parent: OpenDirectory, name: BytePath): OpenDirectory | undefined {
  try {
    const directory = parent.directory(name);
    // Its owner may have closed it to this process, which then sees none of its entries either.
    directory.names();
    return directory;
  } catch {
    return undefined;
  }
}

/** The entries of a manifest by path. Undefined stands for one that was removed when changes were applied. */
export function readManifest(text: string): Map<BytePath, HostEntry | undefined> {
  const entries = new Map<BytePath, HostEntry | undefined>();
  // A record that is not whole is the last one of a process that was killed.
  for (const record of text.split("\0").slice(0, -1)) {
    if (record.startsWith("- ")) {
      entries.set(record.slice(2), undefined);
      continue;
    }
    const [, mode, size, inode, modified, path] = /^(\d+) (\d+) (\d+) (-?\d+) (.+)$/s.exec(record) ?? [];
    if (path === undefined) continue;
    entries.set(path, {
      mode: Number(mode),
      size: BigInt(size ?? 0),
      inode: BigInt(inode ?? 0),
      modified: BigInt(modified ?? 0),
    });
  }
  return entries;
}
