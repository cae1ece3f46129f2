import { Problem } from "../../http/problem.js";

export interface Idempotency {
  readonly key: string;
  readonly requestDigest: string;
}

const keptMs = 60 * 60 * 1000;
const keptKeys = 10_000;

/**
 * Remembers creates by their `Idempotency-Key` for an hour, so that one repeated on a broken connection makes no second
 * sandbox. A key whose sandbox cannot be used any more counts as new.
 */
export class IdempotentCreates<Result> {
  readonly #creates = new Map<string, Create<Result>>();

  constructor(
    private readonly isUsable: (result: Result) => boolean,
    /** What tells requests apart. */
    private readonly digest: (request: string) => string,
  ) {}

  /** Tells of a create before a restart. */
  remember({ key, requestDigest }: Idempotency, result: Result, at: Date): void {
    this.#creates.set(key, {
      requestDigest,
      result: Promise.resolve(result),
      callers: 1,
      until: at.getTime() + keptMs,
    });
  }

  async run(
    key: string | undefined,
    request: unknown,
    create: (idempotency: Idempotency | undefined) => Promise<Result>,
  ): Promise<Result> {
    if (key === undefined) return create(undefined);
    this.#forgetOld();
    const requestDigest = this.digest(JSON.stringify(request));
    const earlier = this.#creates.get(key);
    if (earlier && earlier.requestDigest !== requestDigest) {
      throw new Problem(409, "CONFLICT", "This Idempotency-Key was used with another request.", {
        hint: "Use a new key for a new sandbox.",
      });
    }
    if (earlier) {
      earlier.callers += 1;
      const result = await earlier.result;
      if (this.isUsable(result)) return result;
      if (this.#creates.get(key) === earlier) this.#creates.delete(key);
      return this.run(key, request, create);
    }
    const result = create({ key, requestDigest });
    this.#creates.set(key, { requestDigest, result, callers: 1, until: Date.now() + keptMs });
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
  readonly requestDigest: string;
  readonly result: Promise<Result>;
  /** Who waits for it, or has had it. */
  callers: number;
  readonly until: number;
}
