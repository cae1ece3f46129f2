import { type CallOptions, callOptionNames } from "../config/call-options.js";
import type { OptionNames } from "../config/known-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { checkText, kindOf } from "../config/option-checks.js";
import { checkedVariables } from "../config/variables.js";
import { invalidArgument } from "../errors/errors.js";

/** What running code and running commands have in common. */
export interface RunningOptions extends CallOptions {
  /** Seconds the program may run, 1 to 300, whole. Default: `timeouts.executionSeconds`, which is 30. */
  timeoutSeconds?: number | undefined;
  /** Environment variables of this run only; they win over the sandbox's. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Where it runs. Default /workspace. */
  workdir?: string | undefined;
}

export const runningOptionNames: OptionNames<RunningOptions> = {
  ...callOptionNames,
  timeoutSeconds: true,
  env: true,
  workdir: true,
};

/** Refuses what is no program, before a sandbox is made for it. */
export function checkProgram(code: unknown, language: unknown): void {
  if (typeof code !== "string") throw invalidArgument(`code must be text; it is ${kindOf(code)}.`);
  if (language === undefined || (typeof language === "string" && language.trim() !== "")) return;
  throw invalidArgument(`language must be a name such as "python"; it is ${kindOf(language)}.`);
}

export function checkContext(context: unknown): void {
  if (context === undefined) return;
  if (typeof context !== "string" || context.length < 1 || context.length > 64)
    throw invalidArgument("context must be a name of 1 to 64 characters.");
}

/** What a run is given beside its program. */
export function envAndWorkdir({ env, workdir }: Pick<RunningOptions, "env" | "workdir">) {
  checkText("workdir", workdir);
  return omitUndefined({ env: env && checkedVariables(env, "env"), workdir });
}
