import { Problem } from "../../http/problem.js";

export interface Idempotency {
  readonly key: string;
  readonly requestDigest: string;
}

const keptMs = 60 * 60 * 1000;
const keptKeys = 10_000;

/**
 * Remembers creates by their `Idempotency-Key` for an hour, so that a request repeated after a broken connection does
 * not create a second sandbox. If the sandbox of a key cannot be used any more, the key counts as new.
 */
export class IdempotentCreates<Result> {
  readonly #creates = new Map<string, Create<Result>>();

  constructor(
    private readonly isUsable: (result: Result) => boolean,
    /** Maps a request to a short text that is equal only for equal requests. */
    private readonly digest: (request: string) => string,
  ) {}

  /** Adds a create from before a restart. */
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
        hint: "Use a new Idempotency-Key for a new sandbox.",
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
    const remembered = { requestDigest, result, callers: 1, until: Date.now() + keptMs };
    this.#creates.set(key, remembered);
    // A create that failed has made no sandbox, so the key may be used again. It may have been forgotten, and used, meanwhile.
    result.catch(() => {
      if (this.#creates.get(key) === remembered) this.#creates.delete(key);
    });
    return result;
  }

  /**
   * Call when a caller disconnected before its answer. Returns true if no other caller knows, or waits for, the
   * sandbox, which can then be deleted.
   */
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
  /** Number of callers that wait for the result or have received it. */
  callers: number;
  readonly until: number;
}
