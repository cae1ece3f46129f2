import type { BigIntStats } from "node:fs";
import type { EntryType, FileChange } from "@cloud-sandbox/server-kit/changes";
import type { BytePath } from "./byte-path.js";
import { digestOf, digestOfTarget, largestFile } from "./file-content.js";
import { OpenDirectory } from "./open-directory.js";
import { isVersionControl } from "./special-names.js";

/** One change, with its path below the compared directory. */
export type Change = FileChange & { readonly path: BytePath; readonly target?: BytePath | undefined };

/** The three views of a copied directory. */
export interface CopyPlaces {
  /** What code sees. */
  readonly merged: BytePath;
  /** What code has written. */
  readonly upper: BytePath;
  /** The directory of the host. */
  readonly lower: BytePath;
}

/** Directories below each other. Deeper ones are not looked into. */
export const mostLevels = 256;
/** Bytes of a path below the directory. Longer ones are left out, and cannot be applied. */
export const longestPath = 4096;
/** Bytes that are read for one comparison. */
const mostBytes = 1024 * 1024 * 1024;

/**
 * Finds what code has changed. Only entries that code has written can be changes, so that the rest of the directory is not walked.
 * What code sees decides, not the marks of the overlay, which code may have planted.
 */
export class TreeComparison {
  #bytes = mostBytes;

  constructor(private readonly places: CopyPlaces) {}

  /** The changes, a directory after what is in it. */
  *changes(): Generator<Change> {
    const { merged, upper, lower } = this.places;
    const opened: OpenDirectory[] = [];
    try {
      for (const path of [merged, upper, lower]) opened.push(OpenDirectory.open(path));
      const [now, written, old] = opened as [OpenDirectory, OpenDirectory, OpenDirectory];
      yield* this.#compared("", 1, now, written, old);
    } finally {
      for (const directory of opened) directory.close();
    }
  }

  /** Returns how many entries of the directory are left out. */
  *#compared(
    parent: BytePath,
    level: number,
    now: OpenDirectory,
    written: OpenDirectory | undefined,
    old: OpenDirectory | undefined,
  ): Generator<Change, number> {
    let skipped = 0;
    for (const name of (written ?? now).names()) {
      const path = parent + name;
      if (path.length > longestPath) {
        skipped += 1;
        continue;
      }
      const entry = now.entry(name);
      const before = old?.entry(name);
      if (!entry) {
        if (old && before) yield removal(path, old, name, before);
        continue;
      }
      if (!entry.isDirectory()) {
        yield* this.#changed(path, name, now, entry, old, before);
        continue;
      }
      const inOld = before?.isDirectory() === true ? old : undefined;
      const left = level < mostLevels ? yield* this.#below(path, name, level, now, written, inOld) : 0;
      if (inOld && left === 0) continue;
      const kind = before ? "changed" : "added";
      yield { path, kind, type: "directory", ...(left > 0 && { skipped: left }) };
    }
    if (!old) return skipped;
    const own = new Set((written ?? now).names());
    // A directory that was removed and made again hides all that was in it, else nothing but what has a mark of its own. So one entry
    // tells about all, and a large directory need not be listed.
    const [first] = old.namesBesides(own);
    if (first === undefined || now.entry(first)) return skipped;
    for (const name of old.namesBesides(own)) {
      const before = now.entry(name) ? undefined : old.entry(name);
      if (!before) continue;
      if (parent.length + name.length > longestPath) skipped += 1;
      else yield removal(parent + name, old, name, before);
    }
    return skipped;
  }

  *#below(
    path: BytePath,
    name: BytePath,
    level: number,
    ...[now, written, old]: [OpenDirectory, OpenDirectory | undefined, OpenDirectory | undefined]
  ): Generator<Change, number> {
    const opened: OpenDirectory[] = [];
    const open = (directory: OpenDirectory | undefined): OpenDirectory | undefined => {
      if (!directory) return undefined;
      const inside = directory.directory(name);
      opened.push(inside);
      return inside;
    };
    try {
      const inside = attempt(() => open(now));
      if (!inside) return 0;
      return yield* this.#compared(
        `${path}/`,
        level + 1,
        inside,
        old && attempt(() => open(written)),
        attempt(() => open(old)),
      );
    } finally {
      for (const directory of opened) directory.close();
    }
  }

  *#changed(
    path: BytePath,
    name: BytePath,
    now: OpenDirectory,
    entry: BigIntStats,
    old: OpenDirectory | undefined,
    before: BigIntStats | undefined,
  ): Generator<Change> {
    const type = typeOf(entry);
    const kind = before ? "changed" : "added";
    const isSameType = before !== undefined && typeOf(before) === type;
    const replaced = before?.isDirectory() === true && old ? contentOf(old, name, path) : undefined;
    if (type === "link") {
      const target = attempt(() => now.linkTarget(name));
      if (target === undefined) return;
      if (isSameType && attempt(() => old?.linkTarget(name)) === target) return;
      yield { path, kind, type, target, digest: digestOfTarget(target), ...replaced };
    } else if (type === "file") {
      const executable = isExecutable(entry);
      const digest = this.#digest(now, name, entry);
      const isSame =
        isSameType && before.size === entry.size && digest !== undefined && old !== undefined
          ? this.#digest(old, name, before) === digest
          : false;
      if (isSame && isExecutable(before as BigIntStats) === executable) return;
      const size = Number(entry.size);
      yield { path, kind: isSame ? "mode" : kind, type, size, executable, digest, ...replaced };
    } else if (!isSameType) yield { path, kind, type, ...replaced };
  }

  #digest(directory: OpenDirectory, name: BytePath, { size }: BigIntStats): string | undefined {
    if (size > largestFile || Number(size) > this.#bytes) return undefined;
    this.#bytes -= Number(size);
    return attempt(() => digestOf(directory, name));
  }
}

function removal(path: BytePath, old: OpenDirectory, name: BytePath, before: BigIntStats): Change {
  const type = typeOf(before);
  return { path, kind: "removed", type, ...(type === "directory" && contentOf(old, name, path)) };
}

/** What a directory of the host has in it, at whatever depth. */
function contentOf(
  parent: OpenDirectory,
  name: BytePath,
  path: BytePath,
): Pick<Change, "entries" | "hasVersionControl"> {
  let entries = 0;
  let hasVersionControl = false;
  const count = (at: OpenDirectory, below: BytePath, level: number): void => {
    const directory = attempt(() => at.directory(below));
    if (!directory) return;
    try {
      for (const each of attempt(() => directory.names()) ?? []) {
        entries += 1;
        hasVersionControl ||= isVersionControl(each);
        if (level < mostLevels && attempt(() => directory.entry(each))?.isDirectory())
          count(directory, each, level + 1);
      }
    } finally {
      directory.close();
    }
  };
  count(parent, name, path.split("/").length + 1);
  return hasVersionControl ? { entries, hasVersionControl } : { entries };
}

export function typeOf(entry: BigIntStats): EntryType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}

export const isExecutable = ({ mode }: BigIntStats): boolean => (mode & 0o111n) !== 0n;

/** Undefined if code or others changed what is being read. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
