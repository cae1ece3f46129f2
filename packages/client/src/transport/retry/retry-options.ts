import { invalidArgument } from "../../errors/errors.js";

/** When failed calls are retried. A call that might do its work twice is never retried. */
export interface RetryOptions {
  /** Attempts per call, including the first. Default 3; 1 disables retries. */
  attempts?: number | undefined;
  /** Upper limit of the delay before the second attempt, in seconds; doubles with each further attempt. Default 0.2. */
  baseDelaySeconds?: number | undefined;
  /** Upper limit of the delay between two attempts, in seconds. Default 5. */
  maxDelaySeconds?: number | undefined;
  /**
   * The longest wait, in seconds, that a server may ask for (Retry-After); with a longer one the call fails. Default 30.
   */
  maxRetryAfterSeconds?: number | undefined;
}

/** Retry options with defaults filled in. */
export type DecidedRetry = Readonly<Record<keyof RetryOptions, number>>;

export function decidedRetry(options: RetryOptions | false | undefined): DecidedRetry {
  const {
    attempts = 3,
    baseDelaySeconds = 0.2,
    maxDelaySeconds = 5,
    maxRetryAfterSeconds = 30,
  } = options === false ? { attempts: 1 } : (options ?? {});
  const delays = { baseDelaySeconds, maxDelaySeconds, maxRetryAfterSeconds };
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw invalidArgument("retry.attempts must be a whole number from 1.");
  }
  for (const [name, value] of Object.entries(delays)) {
    if (!(value >= 0)) throw invalidArgument(`retry.${name} must be a number of seconds, 0 or more.`);
  }
  return { attempts, ...delays };
}
