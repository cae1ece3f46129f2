import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { posix } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { fileInfo as entryInfo } from "@cloud-sandbox/server-kit/handlers";
import type { Pin } from "./served-tree.js";

/** Describes a directory entry. `undefined` if it has been deleted meanwhile. */
export async function fileEntry(
  directory: Pin,
  bytes: Buffer,
): Promise<AgentSchemas["FileInfo"] | undefined> {
  const entry = Buffer.concat([Buffer.from(`${directory.location}/`), bytes]);
  const stats = await lstat(entry).catch(() => undefined);
  return stats && fileInfo(posix.join(directory.path, bytes.toString()), stats);
}

export const fileInfo = (path: string, stats: Stats): AgentSchemas["FileInfo"] =>
  entryInfo(path, { size: stats.size, mode: stats.mode, kind: kind(stats), modifiedAt: stats.mtime });

function kind(stats: Stats): string {
  if (stats.isDirectory()) return "d";
  if (stats.isSymbolicLink()) return "l";
  if (stats.isFIFO()) return "p";
  if (stats.isSocket()) return "s";
  if (stats.isCharacterDevice()) return "c";
  return stats.isBlockDevice() ? "b" : "-";
}
