import type { BytePath } from "./byte-path.js";
import type { Operation } from "./host-writer.js";

/** Most changes that are listed. */
export const mostChanges = 100_000;

/** Exit codes with a meaning: the directory is another one by now, or it has too many entries. */
export const wasReplaced = 3;
export const hasTooMany = 4;

export interface HostRequest {
  readonly path: BytePath;
  /** Device and inode, as `8:42`. */
  readonly identity: string;
  readonly owner: { readonly uid: number; readonly gid: number };
}

export interface ApplyingRequest extends HostRequest {
  /** The records of the manifest that the operations need. */
  readonly known: string;
  readonly operations: readonly Operation[];
  readonly check: boolean;
}
