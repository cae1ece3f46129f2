import type { OptionNames } from "../config/known-options.js";
import type { ExecuteOptions } from "./execute-options.js";
import type { WaitOptions } from "./execution.js";
import type { RunningOptions } from "./running-options.js";

/** How long to wait for a program before it continues in the background. */
export interface DetachOptions {
  /** Seconds to wait, 1 or more. Default 45, because many callers have a limit of one minute themselves. */
  detachAfterSeconds?: number | undefined;
  /** Called every two seconds with the program's progress. */
  onProgress?: WaitOptions["onProgress"];
}

export const detachOptionNames: OptionNames<DetachOptions> = { detachAfterSeconds: true, onProgress: true };

/** Options of `runOrDetach`. */
export const runOrDetachNames: OptionNames<Omit<RunningOptions, "requestTimeoutSeconds"> & DetachOptions> = {
  ...detachOptionNames,
  timeoutSeconds: true,
  env: true,
  workdir: true,
  signal: true,
};

/** Options of `executeOrDetach`. */
export const executeOrDetachNames: OptionNames<
  Omit<ExecuteOptions, "cache" | "requestTimeoutSeconds"> & DetachOptions
> = { ...runOrDetachNames, language: true, context: true, filename: true };
