import { invalidArgument } from "../errors/errors.js";
import { requireWhole } from "./option-checks.js";

/** How long a call outlives the limit of what it runs, in seconds: the server ends the program, not the client. */
export const margin = 30;
/** Seconds that code and commands may run, unless they run in the background. */
export const longestExecution = 300;
/** Seconds that a sandbox may live, and that a program may run in the background. */
export const longestLifetime = 86_400;

export function runningTimeout(timeout: number, name = "timeoutSeconds"): number {
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= longestExecution) return timeout;
  throw invalidArgument(
    `${name} must be a whole number of seconds from 1 to ${longestExecution}; it is ${timeout}.`,
    "For longer work, use executeBackground() or commands.runBackground().",
  );
}

/** Seconds that a sandbox may live. */
export function lifetime(seconds: number, option: string): number {
  requireWhole(option, seconds, 1, longestLifetime);
  return seconds;
}
