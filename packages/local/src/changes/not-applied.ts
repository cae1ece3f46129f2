/** A path was not written. The message says why. */
export class NotApplied extends Error {
  constructor(
    readonly status: "conflict" | "refused",
    message: string,
  ) {
    super(message);
  }
}

export const conflict = (reason: string): NotApplied => new NotApplied("conflict", reason);
export const refused = (reason: string): NotApplied => new NotApplied("refused", reason);
export const changedSince = "it changed in the directory since the sandbox got its copy";

/** Why an operation failed, without a path of this process. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Readonly<Record<string, string>> = {
    ENOSPC: "the disk is full",
    EDQUOT: "the disk quota is used up",
    EACCES: "the directory's owner may not write there",
    EPERM: "the system does not allow it: the file or its directory may be immutable or another user's",
    EROFS: "the file system is read-only",
    ENAMETOOLONG: "the name is too long",
    ENOTEMPTY: "something was added to the directory meanwhile",
  };
  return (code === undefined ? undefined : (known[code] ?? `the system answered ${code}`)) ?? message;
}
