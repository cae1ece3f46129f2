import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";

interface Hits {
  readonly hits: number;
  readonly misses: number;
}

export interface ClearableCache {
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
