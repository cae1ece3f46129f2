import { type CallOptions, callOptionNames } from "../config/call-options.js";
import type { OptionNames } from "../config/known-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { checkText, kindOf } from "../config/option-checks.js";
import { checkedVariables } from "../config/variables.js";
import { invalidArgument } from "../errors/errors.js";

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
