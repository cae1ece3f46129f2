import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { NotFoundError, SandboxError } from "../errors/errors.js";
import { asText, date } from "../transport/answer-fields.js";

/** A file, directory or link in a directory. */
export interface FileEntry {
  name: string;
  /** Absolute path. */
  path: string;
  /** Size in bytes. */
  size: number;
  isDirectory: boolean;
  isSymlink: boolean;
  modifiedAt: Date | undefined;
  /** Permissions, as `ls -l` writes them or in octal, depending on the server. */
  permissions: string | undefined;
}

/** Contents of a directory. */
export interface DirectoryListing {
  /** Absolute path of the directory. */
  path: string;
  entries: FileEntry[];
  /** Number of entries in the directory, including those not listed. */
  total: number;
  /** Whether the directory has more entries than the server lists. */
  truncated: boolean;
}

/** The entry of /workspace or /tmp, about which a server gives no details. */
export function root(path: string): FileEntry {
  return fileEntry({ name: path.slice(1), path, size: 0, is_directory: true });
}

export function noEntry(path: string): NotFoundError {
  return new NotFoundError({
    summary: `${path} does not exist.`,
    hint: "files.list() of the path's directory shows what is there.",
    code: "FILE_NOT_FOUND",
  });
}

export function truncated({ path, total }: DirectoryListing): SandboxError {
  return new SandboxError({
    summary: `${path} holds ${total} entries, more than the server lists.`,
    hint: "To list a large directory, run the command find in the sandbox.",
    code: "LISTING_TRUNCATED",
  });
}

/** A file as the agent describes it, in either of its spellings. */
export function fileEntry(wire: AgentSchemas["FileInfo"]): FileEntry {
  return {
    name: wire.name,
    path: asText(wire.path),
    size: wire.size,
    isDirectory: wire.is_directory ?? wire.is_dir ?? false,
    isSymlink: wire.is_symlink ?? false,
    modifiedAt: date(wire.modified_time ?? wire.modified),
    permissions: wire.permissions ?? wire.mode,
  };
}
