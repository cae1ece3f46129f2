import { limits } from "@cloud-sandbox/protocol/limits";
import {
  type CallOptions,
  callOptionNames,
  checkedVariables,
  checkFunction,
  checkText,
  kindOf,
  type OptionNames,
  omitUndefined,
  runningTimeout,
} from "../config/options.js";
import { ConfigurationError, invalidArgument } from "../errors/errors.js";
import type { WaitOptions } from "./execution.js";
import type { DisplayedValue } from "./results/displayed-value.js";

/** Options that code and commands have in common. */
export interface RunningOptions extends CallOptions {
  /**
   * Time limit of the program in seconds, a whole number from 1 to 300. Default: `timeouts.executionSeconds`, which is
   * 30.
   */
  timeoutSeconds?: number | undefined;
  /** Environment variables for this run only; they override the sandbox's. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Working directory. Default /workspace. */
  workdir?: string | undefined;
}

export const runningOptionNames: OptionNames<RunningOptions> = {
  ...callOptionNames,
  timeoutSeconds: true,
  env: true,
  workdir: true,
};

/** Throws if `code` or `language` is invalid. Called early, before a sandbox is created for the code. */
export function checkProgram(code: unknown, language: unknown): void {
  if (typeof code !== "string")
    throw invalidArgument(`code must be text; it is ${kindOf(code)}.`, "Write execute(code, options).");
  if (language === undefined || (typeof language === "string" && language.trim() !== "")) return;
  throw invalidArgument(`language must be a name such as "python"; it is ${kindOf(language)}.`);
}

export function checkContext(context: unknown): void {
  if (context === undefined) return;
  if (typeof context !== "string" || context.length < 1 || context.length > 64)
    throw invalidArgument("context must be a name of 1 to 64 characters.");
}

/** The request fields for environment variables and working directory. */
export function envAndWorkdir({ env, workdir }: Pick<RunningOptions, "env" | "workdir">) {
  checkText("workdir", workdir);
  return omitUndefined({ env: env && checkedVariables(env, "env"), workdir });
}

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
