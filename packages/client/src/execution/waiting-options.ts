import type { OptionNames } from "../config/known-options.js";
import { checkFunction } from "../config/option-checks.js";
import { invalidArgument } from "../errors/errors.js";
import type { WaitOptions } from "./execution.js";

/** Functions that are given a program's output while it runs. With one of them, the call runs over a WebSocket. */
export interface OutputCallbacks {
  /**
   * Called with each piece of standard output as it is written. A promise that it returns is awaited before the next
   * piece. If it throws, the program is killed and the call rejects with that error.
   */
  onStdout?: ((text: string) => unknown) | undefined;
  /** Called with each piece of standard error as it is written, like `onStdout`. */
  onStderr?: ((text: string) => unknown) | undefined;
}

/** How long a call waits for a program that may continue in the background. */
export interface DetachOptions {
  /**
   * Seconds to wait, 1 or more, for callers whose own time is limited. A program that still runs then continues in the
   * background, and the call returns its handle; `kind` tells `result` from `execution`. Cannot be combined with
   * `onStdout`, `onStderr`, `onDisplay`, `cache` and `requestTimeoutSeconds`. Default: the call waits for the program's end.
   */
  detachAfterSeconds?: number | undefined;
  /** Called every two seconds with the program's progress. Needs `detachAfterSeconds`. */
  onProgress?: WaitOptions["onProgress"];
}

export const callbackNames: OptionNames<OutputCallbacks> = { onStdout: true, onStderr: true };
export const detachOptionNames: OptionNames<DetachOptions> = { detachAfterSeconds: true, onProgress: true };

/** All options that decide how a call waits for its program. */
export interface Waiting extends OutputCallbacks, DetachOptions {
  onDisplay?: unknown;
  cache?: unknown;
  requestTimeoutSeconds?: unknown;
}

/** Whether output is reported while the program runs, so that the call needs a stream. */
export function isStreamed({ onDisplay, onStderr, onStdout }: Waiting): boolean {
  return (onStdout ?? onStderr ?? onDisplay) !== undefined;
}

/** Throws if the options are invalid or cannot be combined. Called before anything is sent. */
export function checkWaiting(options: Waiting): void {
  const { detachAfterSeconds: seconds, onDisplay, onProgress, onStderr, onStdout } = options;
  for (const [name, callback] of Object.entries({ onStdout, onStderr, onDisplay, onProgress }))
    checkFunction(name, callback);
  checkUncombined("cache", options.cache === true, options);
  if (seconds === undefined) {
    if (onProgress === undefined) return;
    throw invalidArgument("onProgress needs detachAfterSeconds.", "Use onStdout to follow the output.");
  }
  if (!(Number.isFinite(seconds) && seconds >= 1))
    throw invalidArgument(`detachAfterSeconds must be a number of seconds from 1; it is ${seconds}.`);
  checkUncombined("detachAfterSeconds", true, options);
}

/** Options that mean nothing where the answer comes from a cache, or from a program in the background. */
const uncombined = {
  cache: ["onStdout", "onStderr", "onDisplay"],
  detachAfterSeconds: ["onStdout", "onStderr", "onDisplay", "cache", "requestTimeoutSeconds"],
} as const;

function checkUncombined(name: keyof typeof uncombined, isGiven: boolean, options: Waiting): void {
  const other = uncombined[name].find((each) => options[each] !== undefined && options[each] !== false);
  if (isGiven && other !== undefined)
    throw invalidArgument(`${name} and ${other} cannot be combined.`, "Leave one of them out.");
}
