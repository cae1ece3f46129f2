import type { OptionNames } from "../config/known-options.js";
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

/** Options of `execute`. */
export interface ExecuteOptions extends RunningOptions {
  /** Language of the code: `python` (default), `javascript`, `bash`, `go`, or another that the template has. */
  language?: string | undefined;
  /**
   * Name of the context, 1 to 64 characters: executions in the same context share their variables. Default: one context
   * per language. A sandbox keeps at most 8. bash and go have no contexts.
   */
  context?: string | undefined;
  /**
   * Name of the code's file, for Python, JavaScript and bash, 1 to 255 characters without a slash: error messages have it. Code that runs
   * without a context is written to that file in the working directory, unless it exists, and knows it as its own (`__file__`,
   * `__filename`, `$0`).
   * Default: a name of the server's. Servers without this extension ignore it.
   */
  filename?: string | undefined;
  /**
   * Allows a cached result of the same execution, up to one hour old. Only for code that depends on nothing but itself,
   * its environment variables and the path of its directory. It runs without a context. Default false.
   */
  cache?: boolean | undefined;
}

/** Options of `executeRich` and `executeStream`, which take no result from the cache. */
export const uncachedOptionNames: OptionNames<Omit<ExecuteOptions, "cache">> = {
  ...runningOptionNames,
  language: true,
  context: true,
  filename: true,
};
export const executeOptionNames: OptionNames<ExecuteOptions> = { ...uncachedOptionNames, cache: true };

/** A request body whose options have been checked. */
export type ExecuteRequest = ReturnType<typeof executeRequest>;

/** The request body for `/execute` and its variants. Throws for values that no server accepts. */
export function executeRequest(code: string, options: ExecuteOptions, defaultTimeout: number) {
  const { cache, context, filename, language = "python" } = options;
  checkProgram(code, options.language);
  checkContext(context);
  checkFilename(filename);
  checkCache(cache, context);
  const timeout = runningTimeout(options.timeoutSeconds ?? defaultTimeout);
  return {
    code,
    language,
    timeout,
    ...envAndWorkdir(options),
    ...omitUndefined({ cache: cache || undefined, context, filename }),
  };
}

function checkFilename(filename: unknown): void {
  if (filename === undefined) return;
  if (typeof filename !== "string" || !/^(?!\.\.?$)[^/\p{Cc}]{1,255}$/u.test(filename))
    throw invalidArgument(
      "filename must be the name of a file, without a slash.",
      "Set workdir for its directory.",
    );
}

function checkCache(cache: unknown, context: unknown): void {
  if (cache !== undefined && typeof cache !== "boolean")
    throw invalidArgument("cache must be true or false.");
  if (cache && context !== undefined)
    throw invalidArgument(
      "cache and context cannot be combined: code with cache runs without a context.",
      "Leave cache or context out.",
    );
}
