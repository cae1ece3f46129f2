import { statfsSync } from "node:fs";
import { Problem } from "@cloud-sandbox/server-kit";
import { DataDirectoryError } from "../errors/local-errors.js";

/** Bytes below which a directory counts as full: a change of one record takes a few pages of the store. */
const leastRoom = 64 * 1024;

const noRoomCodes = ["ENOSPC", "EDQUOT", "EROFS"];

/** What SQLite says where a file cannot be written. It does not tell a full disk from a broken one. */
const unwritable = /disk I\/O error|database or disk is full|readonly database|unable to open database/;

/** Whether something could not be written, which may be mended while the server runs. */
export function isUnwritable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    noRoomCodes.includes(code ?? "") || (error.name === "SQLite3Error" && unwritable.test(error.message))
  );
}

/** What a caller is told whose request cannot be kept. */
export function storageFull(cause: unknown): Problem {
  const message =
    "This server cannot keep that: its data directory is full or cannot be written to, so nothing was changed. Free some room there, or delete sandboxes and templates that are no longer needed, and call again.";
  return new Problem(507, "STORAGE_FULL", message, { cause });
}

/** Whether hardly anything fits into a directory any more. */
export function isFull(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < leastRoom;
}

/** For who starts a server: why it cannot start on this data directory, in one line, and what to do. */
export function unusableDirectory(path: string, error: unknown): DataDirectoryError {
  if (error instanceof DataDirectoryError) return error;
  const cause = error instanceof Problem ? error.cause : error;
  const reason = (cause instanceof Error ? cause.message : String(cause))
    .replace(/\s+/g, " ")
    .replace(/\.?\s*$/, "");
  return new DataDirectoryError(whatIsWrong(path, cause, reason), { cause });
}

function whatIsWrong(path: string, cause: unknown, reason: string): string {
  const store = `${path}/store.sqlite`;
  const other = "choose another directory with --data-dir";
  if (/file is not a database/.test(reason))
    return `${store} is no store of a control plane (${reason}). Move it away, or ${other}.`;
  if (/malformed/.test(reason))
    return `${store} is damaged (${reason}). Put a copy of the directory in its place, or ${other}.`;
  if (isUnwritable(cause))
    return isThereAndFull(path)
      ? `The data directory ${path} is full. Free some room there, or ${other}.`
      : `The data directory ${path} cannot be written to (${reason}). Make it writable, or ${other}.`;
  return `The data directory ${path} cannot be used: ${reason}. Choose another with --data-dir.`;
}

function isThereAndFull(path: string): boolean {
  try {
    return isFull(path);
  } catch {
    return false;
  }
}
