import { constants } from "node:os";

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
