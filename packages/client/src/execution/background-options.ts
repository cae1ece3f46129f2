import type { CallOptions } from "../config/call-options.js";
import { checkKnown, type OptionNames } from "../config/known-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { checkText, checkTexts, requireWhole } from "../config/option-checks.js";
import { invalidArgument } from "../errors/errors.js";
import { checkContext, checkProgram, envAndWorkdir, runningOptionNames } from "./running-options.js";

/** What programs in the background have in common. */
export interface BackgroundOptions extends CallOptions {
  /** Seconds the program may run, 1 to 86,400, whole. Default 300. */
  timeoutSeconds?: number | undefined;
  /** Environment variables of this program only; they win over the sandbox's. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Where it runs. Default /workspace. */
  workdir?: string | undefined;
  /** A name for people, at most 200 characters. */
  name?: string | undefined;
}

export interface BackgroundCodeOptions extends BackgroundOptions {
  /** `python` (default), `javascript`, `bash`, `go`, or what else the template has. */
  language?: string | undefined;
}

export interface BackgroundExecuteOptions extends BackgroundCodeOptions {
  /**
   * Whose variables the code sees and leaves, 1 to 64 characters, as of `execute`, which uses `default`. The call answers when
   * the code's turn has come there. Default: a process of its own. An extension, which the cloud does not know.
   */
  context?: string | undefined;
}

export interface AsyncExecuteOptions extends BackgroundCodeOptions {
  /** Seconds the program may run, 1 to 86,400, whole. Default 3,600. */
  timeoutSeconds?: number | undefined;
  /** Headers of the report, 50 at most. */
  callbackHeaders?: Readonly<Record<string, string>> | undefined;
  /** Signs the report, at most 1,024 characters; `verifyWebhook` checks it. Without a secret nobody can tell a forged one. */
  callbackSecret?: string | undefined;
}

const longestBackground = 86_400;
const mostHeaders = 50;

export const backgroundOptionNames: OptionNames<BackgroundOptions> = { ...runningOptionNames, name: true };

/** As the operations for code in the background take it. */
export function backgroundRequest(code: string, options: BackgroundExecuteOptions, defaultTimeout = 300) {
  checkKnown("executeBackground", options, { ...backgroundOptionNames, language: true, context: true });
  return backgroundCode(code, options, defaultTimeout);
}

function backgroundCode(code: string, options: BackgroundExecuteOptions, defaultTimeout: number) {
  const { context, language } = options;
  checkProgram(code, language);
  checkContext(context);
  const fields = { ...backgroundFields(options, defaultTimeout), ...omitUndefined({ context }) };
  return { code, language: language ?? "python", ...fields };
}

export function asyncRequest(code: string, callbackUrl: string, options: AsyncExecuteOptions) {
  const names = {
    ...backgroundOptionNames,
    language: true,
    callbackHeaders: true,
    callbackSecret: true,
  } as const;
  checkKnown("executeAsync", options, names);
  const { callbackHeaders, callbackSecret } = options;
  if (!isHttpUrl(callbackUrl)) throw invalidArgument("callbackUrl must be an http(s) address.");
  checkText("callbackSecret", callbackSecret, 1024);
  checkTexts("callbackHeaders", callbackHeaders);
  if (Object.keys(callbackHeaders ?? {}).length > mostHeaders)
    throw invalidArgument(`callbackHeaders must be at most ${mostHeaders} headers.`);
  return {
    ...backgroundCode(code, options, 3600),
    callback_url: callbackUrl,
    ...omitUndefined({ callback_headers: callbackHeaders, callback_signature_secret: callbackSecret }),
  };
}

export function backgroundFields(options: BackgroundOptions, defaultTimeout = 300) {
  const { name, timeoutSeconds: timeout = defaultTimeout } = options;
  requireWhole("timeoutSeconds", timeout, 1, longestBackground);
  if (name !== undefined && (typeof name !== "string" || name.length > 200))
    throw invalidArgument("name must be text of at most 200 characters.");
  return { timeout, ...envAndWorkdir(options), ...omitUndefined({ name }) };
}

function isHttpUrl(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
