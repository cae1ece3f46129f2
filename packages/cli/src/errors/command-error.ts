import { constants } from "node:os";

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

/**
 * Exit code when the command itself failed: bad input, no server, a refusal. Few programs end with it, so `run` and `exec`
 * use it too.
 */
export const failed = 125;

/** The exit code after a signal, as shells report it: 130 after Ctrl-C. */
export function exitCodeOf(signal: keyof typeof constants.signals): number {
  return 128 + constants.signals[signal];
}

/** The name of the signal that an exit code reports. */
export function signalName(exitCode: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => 128 + number === exitCode)?.[0];
}
