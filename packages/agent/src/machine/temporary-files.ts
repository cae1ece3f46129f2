/**
 * Returns why a temporary file could not be created, as text to put after a colon. Undefined for errors with other
 * causes. The error's own message contains a path of the agent's that callers do not know.
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
