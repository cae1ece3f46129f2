import { checkKnown, type OptionNames } from "../config/known-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { runningTimeout } from "../config/time-limits.js";
import { invalidArgument } from "../errors/errors.js";
import {
  checkContext,
  checkProgram,
  envAndWorkdir,
  type RunningOptions,
  runningOptionNames,
} from "./running-options.js";

export interface ExecuteOptions extends RunningOptions {
  /** `python` (default), `javascript`, `bash`, `go`, or what else the template has. */
  language?: string | undefined;
  /**
   * Whose variables the code sees and leaves, 1 to 64 characters; every language has one by default. A sandbox keeps 8 at
   * most. bash and go have none.
   */
  context?: string | undefined;
  /**
   * The code depends on nothing but itself, its variables and its directory's path, so that the outcome of the same
   * execution may be given instead, for up to an hour. It runs without a context. Default false.
   */
  cache?: boolean | undefined;
}

const executeOptionNames: OptionNames<ExecuteOptions> = {
  ...runningOptionNames,
  language: true,
  context: true,
  cache: true,
};

/** As `/execute` and its relatives take it. Refuses what no server accepts. */
export function executeRequest(code: string, options: ExecuteOptions, defaultTimeout: number) {
  checkKnown("execute", options, executeOptionNames);
  const { cache, context, language = "python" } = options;
  checkProgram(code, options.language);
  checkContext(context);
  checkCache(cache, context);
  const timeout = runningTimeout(options.timeoutSeconds ?? defaultTimeout);
  return {
    code,
    language,
    timeout,
    ...envAndWorkdir(options),
    ...omitUndefined({ cache: cache || undefined, context }),
  };
}

function checkCache(cache: unknown, context: unknown): void {
  if (cache !== undefined && typeof cache !== "boolean")
    throw invalidArgument("cache must be true or false.");
  if (cache && context !== undefined)
    throw invalidArgument("What may come from the cache runs without a context.", "Leave one out.");
}
