/** A failure that the command itself has found. Failures of the client have their own classes. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    /** Stable code in UPPER_SNAKE_CASE, for `--json`. */
    readonly code: string,
    /** What is wrong, in one sentence. */
    readonly summary: string,
    /** What to do next, in one sentence that names a command or an option. */
    readonly hint?: string,
  ) {
    super(hint === undefined ? summary : `${summary} ${hint}`);
  }
}
