import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { posix } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { Pin } from "./served-tree.js";

/** A directory's entry as it is listed; `undefined` when it has just gone. */
export async function fileEntry(
  directory: Pin,
  bytes: Buffer,
): Promise<AgentSchemas["FileInfo"] | undefined> {
  const entry = Buffer.concat([Buffer.from(`${directory.location}/`), bytes]);
  const stats = await lstat(entry).catch(() => undefined);
  return stats && fileInfo(posix.join(directory.path, bytes.toString()), stats);
}

export function fileInfo(path: string, stats: Stats): AgentSchemas["FileInfo"] {
  const modified = stats.mtime.toISOString();
  const isDirectory = stats.isDirectory();
  return {
    name: posix.basename(path),
    path,
    size: stats.size,
    is_directory: isDirectory,
    is_dir: isDirectory,
    is_symlink: stats.isSymbolicLink(),
    modified_time: modified,
    modified,
    permissions: permissions(stats),
    mode: (stats.mode & 0o7777).toString(8).padStart(4, "0"),
  };
}

/** As `ls -l` writes them. */
function permissions(stats: Stats): string {
  const bits = ["x", "w", "r"];
  const rights = Array.from({ length: 9 }, (_, index) => {
    const bit = 8 - index;
    return stats.mode & (1 << bit) ? bits[bit % 3] : "-";
  });
  return kind(stats) + rights.join("");
}

function kind(stats: Stats): string {
  if (stats.isDirectory()) return "d";
  if (stats.isSymbolicLink()) return "l";
  if (stats.isFIFO()) return "p";
  if (stats.isSocket()) return "s";
  if (stats.isCharacterDevice()) return "c";
  return stats.isBlockDevice() ? "b" : "-";
}
