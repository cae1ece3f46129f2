import type { ExecutionCache } from "../execution/execution-cache.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

export function cacheHandlers(cache: ExecutionCache) {
  return {
    getCacheStats: () => ({ cache: cache.stats(), timestamp: now() }),

    clearCache() {
      const removed = cache.clear();
      return {
        success: true,
        message: `${removed} ${removed === 1 ? "entry was" : "entries were"} removed.`,
        entries_removed: removed,
        timestamp: now(),
      };
    },
  } satisfies AgentHandlers;
}
