import { Problem } from "@cloud-sandbox/protocol/server";

const keptMs = 60 * 60 * 1000;
const keptKeys = 10_000;

/** Remembers creates by their `Idempotency-Key` for an hour, so that one repeated on a broken connection makes no second sandbox. */
export class IdempotentCreates<Result> {
  readonly #creates = new Map<string, Create<Result>>();

  run(key: string | undefined, request: unknown, create: () => Promise<Result>): Promise<Result> {
    if (key === undefined) return create();
    this.#forgetOld();
    const text = JSON.stringify(request);
    const earlier = this.#creates.get(key);
    if (earlier && earlier.request !== text) {
      throw new Problem(
        409,
        "CONFLICT",
        "This Idempotency-Key was used with another request. Use a new key for a new sandbox.",
      );
    }
    if (earlier) {
      earlier.callers += 1;
      return earlier.result;
    }
    const result = create();
    this.#creates.set(key, { request: text, result, callers: 1, until: Date.now() + keptMs });
    // A create that failed made nothing, and may be tried again.
    result.catch(() => this.#creates.delete(key));
    return result;
  }

  /** A caller went away before its answer. True when nobody else is there who could have the sandbox. */
  abandon(key: string | undefined): boolean {
    const create = key === undefined ? undefined : this.#creates.get(key);
    if (key === undefined || !create) return true;
    create.callers -= 1;
    if (create.callers > 0) return false;
    return this.#creates.delete(key);
  }

  #forgetOld(): void {
    for (const [key, { until }] of this.#creates) {
      if (until > Date.now() && this.#creates.size < keptKeys) return;
      this.#creates.delete(key);
    }
  }
}

interface Create<Result> {
  readonly request: string;
  readonly result: Promise<Result>;
  /** Who waits for it, or has had it. */
  callers: number;
  readonly until: number;
}
