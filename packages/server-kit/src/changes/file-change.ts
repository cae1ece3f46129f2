export type EntryType = "file" | "directory" | "link" | "other";

/** One change. A path of a file system need not be text: what these strings hold is up to who lists them. */
export interface FileChange {
  readonly path: string;
  /** `mode`: the content is the same, but not whether the file may be executed. */
  readonly kind: "added" | "changed" | "removed" | "mode";
  /** What it is now, or what was removed. */
  readonly type: EntryType;
  readonly size?: number | undefined;
  readonly executable?: boolean | undefined;
  /** SHA-256 of the content or of the link's target. Undefined for a file that is too large, or could not be read. */
  readonly digest?: string | undefined;
  readonly target?: string | undefined;
  /** How many files and directories were in a directory that was removed, or replaced by something else. */
  readonly entries?: number | undefined;
  /** Whether the version control's were among them. */
  readonly hasVersionControl?: boolean | undefined;
  /** How many entries of a directory are left out because their paths are too long. The directory itself need not have changed. */
  readonly skipped?: number | undefined;
}
