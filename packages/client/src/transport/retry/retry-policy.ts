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

/**
 * When a call may be retried. `always`: idempotent methods. `refused`: other methods, only if the server said that it did
 * nothing. `unsent`: operations that run code, only if nothing was sent.
 */
export type Repeatable = "always" | "refused" | "unsent";

export type Failure =
  | { kind: "unsent" }
  | { kind: "broken" }
  | { kind: "status"; status: number; retryAfter: number | undefined };

export function repeatable(method: string, operationPath: string): Repeatable {
  if (idempotent.has(method)) return "always";
  return /^\/(execute|commands)(\/|$)/.test(operationPath) ? "unsent" : "refused";
}

export class RetryPolicy {
  readonly #options: DecidedRetry;

  constructor(options: DecidedRetry) {
    this.#options = options;
  }

  /** Seconds until the next attempt; undefined if there must be none. */
  delay(failure: Failure, may: Repeatable, attempt: number): number | undefined {
    if (attempt >= this.#options.attempts || !mayRepeat(failure, may)) return undefined;
    const asked = failure.kind === "status" ? failure.retryAfter : undefined;
    if (asked !== undefined && asked > this.#options.maxRetryAfterSeconds) return undefined;
    const { baseDelaySeconds, maxDelaySeconds } = this.#options;
    const backoff = Math.random() * Math.min(maxDelaySeconds, baseDelaySeconds * 2 ** (attempt - 1));
    // Add jitter: the server may name the same time to many clients, which would then all return together.
    return asked === undefined
      ? backoff
      : asked + Math.random() * Math.min(baseDelaySeconds, maxDelaySeconds);
  }
}

const idempotent = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
const transientStatus = new Set([408, 429, 500, 502, 503, 504]);

function mayRepeat(failure: Failure, may: Repeatable): boolean {
  if (failure.kind === "unsent") return true;
  if (may === "unsent") return false;
  if (failure.kind === "broken") return may === "always";
  if (failure.status === 429) return true;
  // A 503 with Retry-After is a refusal; without it, the work may have begun.
  if (failure.status === 503 && failure.retryAfter !== undefined) return true;
  return may === "always" && transientStatus.has(failure.status);
}
