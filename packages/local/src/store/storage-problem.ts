import { statfsSync } from "node:fs";
import { Problem } from "@cloud-sandbox/server-kit";
import { DataDirectoryError } from "../errors/local-errors.js";

/** A directory counts as full below this many free bytes: changing one record writes a few database pages. */
const minFreeBytes = 64 * 1024;

const unwritableCodes = ["ENOSPC", "EDQUOT", "EROFS"];

/** SQLite's messages for a file that cannot be written. They are the same for a full and for a broken disk. */
const unwritableMessage =
  /disk I\/O error|database or disk is full|readonly database|unable to open database/;

/** Whether an error says that the disk is full or read-only. The operator can fix that while the server runs. */
export function isUnwritable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    unwritableCodes.includes(code ?? "") ||
    (error.name === "SQLite3Error" && unwritableMessage.test(error.message))
  );
}

/** The 507 problem for a request whose change cannot be saved. */
export function storageFull(cause: unknown): Problem {
  const message =
    "This server could not save the change, because its data directory is full or cannot be written to. Nothing was changed.";
  return new Problem(507, "STORAGE_FULL", message, {
    hint: "Free some disk space in the server's data directory, or delete sandboxes and templates that are no longer needed, and call again.",
    cause,
  });
}

/** Whether the directory's file system has too little space left for a change of one record. */
export function isFull(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < minFreeBytes;
}

/** The error that ends a server's start: why it cannot use this data directory, and what to do. One line. */
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
    return `${store} is not a database of cloud-sandbox-local (${reason}). Move it away, or ${other}.`;
  if (/malformed/.test(reason))
    return `${store} is damaged (${reason}). Restore the directory from a backup, or ${other}.`;
  if (isUnwritable(cause))
    return isThereAndFull(path)
      ? `The data directory ${path} is full. Free some disk space there, or ${other}.`
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

/** Runs work that reads the data directory. Its errors name the directory and how to fix it. */
export async function withStoreErrors<Result>(
  store: { readonly directory: string | undefined },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw store.directory === undefined ? error : unusableDirectory(store.directory, error);
  }
}
