import { invalidArgument } from "../../errors/errors.js";

/** When calls that failed are made again. Only what cannot do its work twice is ever repeated. */
export interface RetryOptions {
  /** Tries of one call, the first included. Default 3; 1 means never again. */
  attempts?: number | undefined;
  /** Seconds before the second try, at most; doubles with each further one. Default 0.2. */
  baseDelaySeconds?: number | undefined;
  /** The most seconds between two tries. Default 5. */
  maxDelaySeconds?: number | undefined;
  /** A server that asks for a longer wait than this, in seconds, is not waited for. Default 30. */
  maxRetryAfterSeconds?: number | undefined;
}

/** With everything decided. */
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
