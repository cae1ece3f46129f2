import type { CallInit } from "../transport/http/light-request.js";
import type { OptionNames } from "./known-options.js";
import { checkSeconds } from "./option-checks.js";

/** What every call takes. */
export interface CallOptions {
  /** Ends the call; what it runs in the sandbox is stopped too. The call rejects with an `AbortError`. */
  signal?: AbortSignal | undefined;
  /** Seconds until the answer must have arrived, in place of `timeouts.requestSeconds`. */
  requestTimeoutSeconds?: number | undefined;
}

export const callOptionNames: OptionNames<CallOptions> = { signal: true, requestTimeoutSeconds: true };

/** For openapi-fetch: `{ params, ...callInit(options) }`. */
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
