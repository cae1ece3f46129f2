import { createHash } from "node:crypto";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import { LRUCache } from "lru-cache";

const mostEntries = 256;
/** Bytes of all entries together, and of one. */
const mostBytes = 16 * 1024 * 1024;
const largestEntry = 1024 * 1024;
/** Seconds. */
const lifetime = 3600;

/** What makes two executions the same. */
export interface ExecutionIdentity {
  readonly language: string;
  readonly code: string;
  readonly cwd: string;
  /** All variables: the sandbox's and the request's. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isCell: boolean;
}

/**
 * Outcomes of executions whose callers said that they depend on nothing but what identifies them. Only those that
 * succeeded are kept, as long as there is room.
 */
export class ExecutionCache {
  readonly #entries = new LRUCache<string, Outcome>({
    max: mostEntries,
    maxSize: mostBytes,
    maxEntrySize: largestEntry,
    ttl: lifetime * 1000,
    sizeCalculation: (outcome) => JSON.stringify(outcome).length,
  });
  #hits = 0;
  #misses = 0;

  /** The outcome of the same execution, or that of `run`, and whether it was kept. */
  async outcome(
    identity: ExecutionIdentity,
    run: () => Promise<Outcome>,
  ): Promise<{ readonly outcome: Outcome; readonly cached: boolean }> {
    const key = keyOf(identity);
    const kept = this.#entries.get(key);
    if (kept) {
      this.#hits += 1;
      return { outcome: kept, cached: true };
    }
    this.#misses += 1;
    const outcome = await run();
    // What was cut is in a file that goes; what failed may succeed the next time.
    if (outcome.exitCode === 0 && !outcome.stdout.truncated && !outcome.stderr.truncated)
      this.#entries.set(key, outcome);
    return { outcome, cached: false };
  }

  /** Entries that are still good. */
  get size(): number {
    this.#entries.purgeStale();
    return this.#entries.size;
  }

  /** Tells how many there were. */
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

/** A digest, so that no values of variables are kept. */
function keyOf({ language, code, cwd, variables, isCell }: ExecutionIdentity): string {
  const sorted = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([language, code, cwd, sorted, isCell]))
    .digest("base64");
}
