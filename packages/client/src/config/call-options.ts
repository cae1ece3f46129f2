import type { CallInit } from "../transport/openapi-client.js";
import { checkKnown, checkSeconds, type OptionNames } from "./options.js";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call and stops what it runs in the sandbox. The call rejects with an `AbortError`. */
  signal?: AbortSignal | undefined;
  /**
   * Seconds until the answer must have arrived. Default: `timeouts.requestSeconds`; longer for calls that run code or
   * transfer files.
   */
  requestTimeoutSeconds?: number | undefined;
}

export const callOptionNames: OptionNames<CallOptions> = { signal: true, requestTimeoutSeconds: true };

/**
 * The options of a call that has no others, in the form that openapi-fetch takes: `{ params, ...callInit(options) }`.
 * Throws for any other option.
 */
export function callInit<Options extends CallOptions>(
  options: (Options & Record<Exclude<keyof Options, keyof CallOptions>, never>) | undefined,
): CallInit {
  checkKnown<CallOptions>("This call", options, callOptionNames);
  return requestInit(options);
}

/** Like `callInit`, for calls that have more options, which they have checked themselves. */
export function requestInit(options: CallOptions | undefined, requestTimeout?: number): CallInit {
  const init: CallInit = {};
  if (options?.signal !== undefined) init.signal = options.signal;
  const seconds = options?.requestTimeoutSeconds ?? requestTimeout;
  if (seconds !== undefined) {
    checkSeconds("requestTimeoutSeconds", seconds);
    init.requestTimeout = seconds;
  }
  return init;
}
