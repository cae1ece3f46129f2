import type { DecidedRetry } from "./retry-options.js";

/**
 * What may be repeated: `always` (idempotent methods), `refused` (other methods, when the server said it did
 * nothing), `unsent` (whatever runs code, when not a byte of it was sent).
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

  /** Seconds to wait before the next try; undefined when there must be none. */
  delay(failure: Failure, may: Repeatable, attempt: number): number | undefined {
    if (attempt >= this.#options.attempts || !mayRepeat(failure, may)) return undefined;
    const asked = failure.kind === "status" ? failure.retryAfter : undefined;
    if (asked !== undefined && asked > this.#options.maxRetryAfterSeconds) return undefined;
    const { baseDelaySeconds, maxDelaySeconds } = this.#options;
    const backoff = Math.random() * Math.min(maxDelaySeconds, baseDelaySeconds * 2 ** (attempt - 1));
    // Many callers are told the same time; a little of the jitter keeps them from returning together.
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
  // A 503 that names a time is a refusal; without one the work may have begun.
  if (failure.status === 503 && failure.retryAfter !== undefined) return true;
  return may === "always" && transientStatus.has(failure.status);
}
