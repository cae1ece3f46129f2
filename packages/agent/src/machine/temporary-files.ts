/**
 * Why a temporary file could not be made, to be put after a colon; nothing for errors that have other causes. The error
 * itself names a path of the agent's own, which means nothing to callers.
 */
export function temporaryFileObstacle(error: unknown): string | undefined {
  switch (error instanceof Error && "code" in error && error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "the directory of temporary files cannot be written to";
    case "ENOTDIR":
    case "ELOOP":
    case "EEXIST":
      return "something else is in the place of the directory of temporary files";
    default:
      return undefined;
  }
}
