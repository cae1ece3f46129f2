import { limits } from "@cloud-sandbox/protocol/limits";
import {
  type CallOptions,
  checkKnown,
  checkText,
  checkTexts,
  type OptionNames,
  omitUndefined,
  requireWhole,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { checkContext, checkProgram, envAndWorkdir, runningOptionNames } from "./execute-options.js";

/** Options of all programs in the background. */
export interface BackgroundOptions extends CallOptions {
  /** Time limit of the program in seconds, a whole number from 1 to 86,400. Default 300. */
  timeoutSeconds?: number | undefined;
  /** Environment variables for this program only; they override the sandbox's. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Working directory. Default /workspace. */
  workdir?: string | undefined;
  /** A display name, at most 200 characters. */
  name?: string | undefined;
}

/** Options of all code in the background. */
export interface BackgroundCodeOptions extends BackgroundOptions {
  /** Language of the code: `python` (default), `javascript`, `bash`, `go`, or another that the template has. */
  language?: string | undefined;
}

/** Options of `executeBackground`. */
export interface BackgroundExecuteOptions extends BackgroundCodeOptions {
  /**
   * Name of the context whose variables the code shares, 1 to 64 characters; `execute` uses `default`. The call answers
   * once earlier code in that context has ended. Default: a process of its own. An extension that the cloud does not
   * have.
   */
  context?: string | undefined;
}

/** Options of `executeAsync`. */
export interface AsyncExecuteOptions extends BackgroundCodeOptions {
  /** Time limit of the program in seconds, a whole number from 1 to 86,400. Default 3,600. */
  timeoutSeconds?: number | undefined;
  /** HTTP headers of the report, at most 50. */
  callbackHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Secret that signs the report, at most 1,024 characters; `verifyWebhook` checks the signature. Without a secret a
   * forged report cannot be detected.
   */
  callbackSecret?: string | undefined;
}

const mostHeaders = 50;

export const backgroundOptionNames: OptionNames<BackgroundOptions> = { ...runningOptionNames, name: true };

/** The request body for background code. */
export function backgroundRequest(
  code: string,
  options: BackgroundExecuteOptions,
  defaultTimeout: number = limits.backgroundDefaultSeconds,
) {
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
    ...backgroundCode(code, options, limits.asyncDefaultSeconds),
    callback_url: callbackUrl,
    ...omitUndefined({ callback_headers: callbackHeaders, callback_signature_secret: callbackSecret }),
  };
}

export function backgroundFields(
  options: BackgroundOptions,
  defaultTimeout: number = limits.backgroundDefaultSeconds,
) {
  const { name, timeoutSeconds: timeout = defaultTimeout } = options;
  requireWhole("timeoutSeconds", timeout, 1, limits.backgroundSeconds);
  if (name !== undefined && (typeof name !== "string" || name.length > 200))
    throw invalidArgument("name must be text of at most 200 characters.");
  return { timeout, ...envAndWorkdir(options), ...omitUndefined({ name }) };
}

function isHttpUrl(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
