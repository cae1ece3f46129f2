import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";
import { now } from "./agent-handlers.js";

/** Facts about a directory entry. */
export interface EntryFacts {
  readonly size: number;
  readonly mode: number;
  /** The first character of a line of `ls -l`: `-` for a file, `d` for a directory, `l` for a symbolic link. */
  readonly kind: string;
  readonly modifiedAt: Date;
}

/**
 * Describes an entry as the contract defines it. Some facts appear under two field names, because clients read one or
 * the other.
 */
export function fileInfo(
  path: string,
  { size, mode, kind, modifiedAt }: EntryFacts,
): AgentSchemas["FileInfo"] {
  const modified = modifiedAt.toISOString();
  const isDirectory = kind === "d";
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    size,
    is_directory: isDirectory,
    is_dir: isDirectory,
    is_symlink: kind === "l",
    modified_time: modified,
    modified,
    permissions: kind + permissions(mode),
    mode: (mode & 0o7777).toString(8).padStart(4, "0"),
  };
}

/** The permissions in the notation of `ls -l`, such as `rwxr-xr-x`. */
function permissions(mode: number): string {
  const bits = ["x", "w", "r"];
  const rights = Array.from({ length: 9 }, (_, index) => {
    const bit = 8 - index;
    return mode & (1 << bit) ? bits[bit % 3] : "-";
  });
  return rights.join("");
}

export const fileDone = (what: string, path: string, size?: number) => ({
  success: true,
  message: `${path} was ${what}.`,
  path,
  ...(size !== undefined && { size }),
  timestamp: now(),
});

/**
 * A Content-Disposition header with the file name twice: in ASCII for clients that do not understand `filename*`, and
 * unchanged.
 */
export function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeRfc5987(name)}`;
}

const encodeRfc5987 = (text: string) =>
  encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Whether the body of an upload is the file itself, not a form that holds it. */
export function isBareUpload(contentType: string | undefined | null): boolean {
  return /^application\/octet-stream\b/i.test(contentType ?? "");
}

/** The destination of a file that comes without a name of its own, so that the path must not be a directory. */
export function fileDestination(path: string | undefined): string {
  if (path === undefined) throw missing("path is required: name the destination in the query.");
  requireFilePath(path);
  return path;
}

/** Throws a 400 problem if the path is written as that of a directory. */
export function requireFilePath(path: string): void {
  if (!path.endsWith("/")) return;
  const message = `${path} ends with a slash, so it names a directory.`;
  throw new Problem(400, "INVALID_PATH", message, {
    hint: "Name the file in the path, after the directory.",
    details: { path },
  });
}

export const fileMissing = () => missing("file is required: send the bytes as the form's part of that name.");

const missing = (message: string) => new Problem(400, "MISSING_PARAMETER", message);
