import type { CallInit } from "../transport/http/light-request.js";
import type { OptionNames } from "./known-options.js";
import { checkSeconds } from "./option-checks.js";

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

/** Call options in the form that openapi-fetch takes: `{ params, ...callInit(options) }`. */
export function callInit(options: CallOptions | undefined, requestTimeout?: number): CallInit {
  const init: CallInit = {};
  if (options?.signal !== undefined) init.signal = options.signal;
  const seconds = options?.requestTimeoutSeconds ?? requestTimeout;
  if (seconds !== undefined) {
    checkSeconds("requestTimeoutSeconds", seconds);
    init.requestTimeout = seconds;
  }
  return init;
}
