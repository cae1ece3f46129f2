import { createHash } from "node:crypto";
import { Problem } from "@cloud-sandbox/server-kit";
import type { KeyRing } from "../tokens/key-ring.js";

const windowMs = 60_000;
/** Callers counted one by one in a window. Further ones are counted as one caller, except those with a key of this server. */
const knownCallers = 1000;

/** Counts the requests of each caller in windows of a minute. */
export class RateLimiter {
  readonly #counts = new Map<string, number>();
  #windowEnd = 0;

  constructor(
    private readonly limit: number,
    private readonly keys: Pick<KeyRing, "knows">,
  ) {}

  /** Counts a request with this credential and sets the rate limit headers. Throws a 429 problem beyond the limit. */
  admit(credential: string, headers: Record<string, string>): void {
    const now = Date.now();
    if (now >= this.#windowEnd) {
      this.#counts.clear();
      this.#windowEnd = now + windowMs;
    }
    const caller = this.#caller(credential);
    const count = (this.#counts.get(caller) ?? 0) + 1;
    this.#counts.set(caller, count);
    headers["x-ratelimit-limit"] = String(this.limit);
    headers["x-ratelimit-remaining"] = String(Math.max(0, this.limit - count));
    headers["x-ratelimit-reset"] = String(Math.ceil(this.#windowEnd / 1000));
    if (count > this.limit) throw this.#excess(Math.max(1, Math.ceil((this.#windowEnd - now) / 1000)));
  }

  #caller(credential: string): string {
    const digest = createHash("sha256").update(credential).digest("base64");
    const isCountedAlone =
      this.#counts.has(digest) || this.#counts.size < knownCallers || this.keys.knows(credential);
    return isCountedAlone ? digest : "others";
  }

  #excess(seconds: number): Problem {
    const message = `More than ${this.limit} requests came in one minute, the limit of this server.`;
    return new Problem(429, "RATE_LIMIT_EXCEEDED", message, {
      hint: `Wait ${seconds} s, or start the server with a higher --rate-limit.`,
      headers: { "retry-after": String(seconds) },
      details: { retry_after_seconds: seconds, limit: this.limit },
    });
  }
}
