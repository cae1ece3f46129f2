import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { limits } from "@cloud-sandbox/protocol/limits";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import type { Outcome } from "./outcome.js";

export const mostKeptOutcomes: number = limits.cachedOutcomes;
/** How long an outcome is kept, in seconds. */
export const outcomeLifetime: number = limits.cachedSeconds;

/** The properties that identify an execution: two executions with equal properties have the same outcome. */
export interface ExecutionIdentity {
  readonly language: string;
  readonly code: string;
  readonly cwd: string;
  /** All environment variables, the sandbox's and the request's. */
  readonly variables: Readonly<Record<string, string>>;
  readonly usesIpython: boolean;
  readonly stdin?: string | undefined;
}

/** Storage for outcomes: at most {@link mostKeptOutcomes}, each for {@link outcomeLifetime} seconds. */
interface KeptOutcomes {
  get(key: string): Outcome | undefined;
  set(key: string, outcome: Outcome): void;
  /** Number of entries that have not expired. */
  readonly size: number;
  clear(): void;
}

/**
 * Caches the outcomes of executions whose callers set `cache`, and who thereby state that the outcome depends only on
 * the execution's identity.
 */
export class ExecutionCache implements ClearableCache {
  #hits = 0;
  #misses = 0;
  #clears = 0;

  /** `digest` turns a text into a key. The text contains values of variables, which must not be kept. */
  constructor(
    private readonly kept: KeptOutcomes,
    private readonly digest: (text: string) => string,
  ) {}

  /** Returns the cached outcome of an identical execution, or else calls `run`. `cached` says which. */
  async outcome(
    identity: ExecutionIdentity,
    run: () => Promise<Outcome>,
  ): Promise<{ readonly outcome: Outcome; readonly cached: boolean }> {
    const key = this.digest(textOf(identity));
    const kept = this.kept.get(key);
    if (kept) {
      this.#hits += 1;
      return { outcome: kept, cached: true };
    }
    this.#misses += 1;
    const clears = this.#clears;
    const outcome = await run();
    // Do not cache a truncated output, because its file may be deleted, nor a failure, because the next attempt may
    // succeed, nor what began before the cache was cleared.
    const isWhole = !outcome.stdout.truncated && !outcome.stderr.truncated;
    if (outcome.exitCode === 0 && isWhole && clears === this.#clears) this.kept.set(key, outcome);
    return { outcome, cached: false };
  }

  get size(): number {
    return this.kept.size;
  }

  clear(): number {
    const { size } = this;
    this.#clears += 1;
    this.kept.clear();
    return size;
  }

  get counts() {
    return {
      size: this.size,
      max_size: mostKeptOutcomes,
      ttl: outcomeLifetime,
      hits: this.#hits,
      misses: this.#misses,
    };
  }
}

function textOf({ language, code, cwd, variables, usesIpython, stdin }: ExecutionIdentity): string {
  const sorted = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([language, code, cwd, sorted, usesIpython, stdin]);
}

interface Hits {
  readonly hits: number;
  readonly misses: number;
}

interface ClearableCache {
  readonly counts: Pick<AgentSchemas["CacheStats"], "size" | "max_size" | "ttl"> & Hits;
  /** Removes all entries and returns how many there were. */
  clear(): number;
}

export function cacheHandlers(cache: ClearableCache) {
  return {
    getCacheStats: () => ({ cache: statistics(cache), timestamp: now() }),

    clearCache() {
      const removed = cache.clear();
      return {
        success: true,
        message: `${removed} ${removed === 1 ? "entry was" : "entries were"} removed.`,
        entries_removed: removed,
        timestamp: now(),
      };
    },
  } satisfies AnyAgentHandlers;
}

function statistics({ counts }: ClearableCache): AgentSchemas["CacheStats"] {
  const { hits, misses } = counts;
  return { ...counts, total_hits: hits, hit_rate: hits === 0 ? 0 : hits / (hits + misses) };
}
