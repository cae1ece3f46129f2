import type { ClearableCache, Outcome } from "@cloud-sandbox/server-kit/handlers";

/** Seconds. */
const lifetime = 3600;
const mostEntries = 256;

/** Outcomes of executions whose callers said that the same may be given again. Only those that succeeded are kept. */
export class ExecutionCache implements ClearableCache {
  readonly #entries = new Map<string, { readonly outcome: Outcome; readonly until: number }>();
  #hits = 0;
  #misses = 0;

  constructor(private readonly now: () => Date) {}

  get size(): number {
    return this.#entries.size;
  }

  async outcome(
    identity: object,
    run: () => Promise<Outcome>,
  ): Promise<{ outcome: Outcome; cached: boolean }> {
    const key = JSON.stringify(identity);
    const kept = this.#entries.get(key);
    if (kept && kept.until > this.now().getTime()) {
      this.#hits += 1;
      return { outcome: kept.outcome, cached: true };
    }
    this.#misses += 1;
    const outcome = await run();
    if (outcome.exitCode === 0)
      this.#entries.set(key, { outcome, until: this.now().getTime() + lifetime * 1000 });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > mostEntries && oldest !== undefined) this.#entries.delete(oldest);
    return { outcome, cached: false };
  }

  clear(): number {
    const { size } = this;
    this.#entries.clear();
    return size;
  }

  get counts() {
    return {
      size: this.size,
      max_size: mostEntries,
      ttl: lifetime,
      hits: this.#hits,
      misses: this.#misses,
    };
  }
}
