import { limits } from "@cloud-sandbox/protocol/limits";
import { invalidArgument } from "../errors/errors.js";
import { requireWhole } from "./option-checks.js";

/**
 * Seconds that a call waits beyond the time limit of its program, so that the server ends the program before the client
 * gives up.
 */
export const margin = 30;
/** The longest time limit, in seconds, of code and commands that do not run in the background. */
export const longestExecution: number = limits.executionSeconds;
/** The longest lifetime of a sandbox and time limit of a streamed command, in seconds. */
export const longestLifetime: number = limits.sandboxSeconds;
/** Assumed slowest connection, in bytes per second. Sets the timeout of transfers. */
export const slowestTransfer = 256 * 1024;

export function runningTimeout(timeout: number, name = "timeoutSeconds"): number {
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= longestExecution) return timeout;
  throw invalidArgument(
    `${name} must be a whole number of seconds from 1 to ${longestExecution}; it is ${timeout}.`,
    "For longer work, use executeBackground() or commands.runBackground().",
  );
}

/** Checks and returns a sandbox's lifetime in seconds. */
export function lifetime(seconds: number, option: string): number {
  requireWhole(option, seconds, 1, longestLifetime);
  return seconds;
}
