import { limits } from "@cloud-sandbox/protocol/limits";
import type { OptionNames } from "../config/known-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { kindOf } from "../config/option-checks.js";
import { runningTimeout } from "../config/time-limits.js";
import { ConfigurationError, invalidArgument } from "../errors/errors.js";
import type { DisplayedValue } from "./results/displayed-value.js";
import {
  checkContext,
  checkProgram,
  envAndWorkdir,
  type RunningOptions,
  runningOptionNames,
} from "./running-options.js";
import {
  callbackNames,
  checkWaiting,
  type DetachOptions,
  detachOptionNames,
  type OutputCallbacks,
} from "./waiting-options.js";

/** Options of `executeStream`. */
export interface StreamExecuteOptions extends RunningOptions {
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
   * Standard input of the code, at most 1,000,000 characters. The code then runs in a process of its own, without a context. Default:
   * empty input. An extension: rejects with code STDIN_UNAVAILABLE on servers that do not state their isolation, such as the cloud.
   */
  stdin?: string | undefined;
}

/** Options of `execute`. */
export interface ExecuteOptions extends StreamExecuteOptions, OutputCallbacks, DetachOptions {
  /** Called with each value that the code displayed, in order, as soon as the code has ended; otherwise like `onStdout`. */
  onDisplay?: ((value: DisplayedValue) => unknown) | undefined;
  /**
   * Allows a cached result of the same execution, up to one hour old. Only for code that depends on nothing but itself,
   * its environment variables and the path of its directory. It runs without a context. Default false.
   */
  cache?: boolean | undefined;
}

export const streamExecuteOptionNames: OptionNames<StreamExecuteOptions> = {
  ...runningOptionNames,
  language: true,
  context: true,
  filename: true,
  stdin: true,
};
export const executeOptionNames: OptionNames<ExecuteOptions> = {
  ...streamExecuteOptionNames,
  ...callbackNames,
  ...detachOptionNames,
  onDisplay: true,
  cache: true,
};

/** A request body whose options have been checked. */
export type ExecuteRequest = ReturnType<typeof executeRequest>;

/** The request body for `/execute` and its variants. Throws for values that no server accepts. */
export function executeRequest(code: string, options: ExecuteOptions, defaultTimeout: number) {
  const { cache, context, filename, language = "python", stdin } = options;
  checkProgram(code, options.language);
  checkContext(context);
  checkFilename(filename);
  checkAlone("cache", cache, typeof cache === "boolean", "true or false", context);
  checkAlone(
    "stdin",
    stdin,
    typeof stdin === "string" && stdin.length <= limits.inputCharacters,
    `text of at most ${limits.inputCharacters} characters`,
    context,
  );
  checkWaiting(options);
  const timeout = runningTimeout(options.timeoutSeconds ?? defaultTimeout);
  return {
    code,
    language,
    timeout,
    ...envAndWorkdir(options),
    ...omitUndefined({ cache: cache || undefined, context, filename, stdin }),
  };
}

/** Throws if the code has an input that the server would ignore, because it lacks this project's extensions. */
export function checkStdin({ stdin }: Pick<ExecuteRequest, "stdin">, isExtended: boolean): void {
  if (stdin === undefined || isExtended) return;
  throw new ConfigurationError({
    summary: "This server gives code no standard input.",
    hint: "Run a command that has one: commands.run(command, { stdin }).",
    code: "STDIN_UNAVAILABLE",
  });
}

function checkFilename(filename: unknown): void {
  if (filename === undefined) return;
  if (typeof filename !== "string" || !/^(?!\.\.?$)[^/\p{Cc}]{1,255}$/u.test(filename))
    throw invalidArgument(
      "filename must be the name of a file, without a slash.",
      "Set workdir for its directory.",
    );
}

/** Checks an option with which the code runs without a context. */
function checkAlone(
  name: string,
  value: unknown,
  isValid: boolean,
  expected: string,
  context: unknown,
): void {
  if (value === undefined) return;
  if (!isValid) throw invalidArgument(`${name} must be ${expected}; it is ${kindOf(value)}.`);
  if (value !== false && context !== undefined)
    throw invalidArgument(
      `${name} and context cannot be combined: code with ${name} runs without a context.`,
      `Leave ${name} or context out.`,
    );
}
