import { createHash } from "node:crypto";
import {
  ExecutionCache,
  mostKeptOutcomes,
  type Outcome,
  outcomeLifetime,
} from "@cloud-sandbox/server-kit/handlers";
import { LRUCache } from "lru-cache";

/** Bytes of all outcomes together, and of one. */
const mostBytes = 16 * 1024 * 1024;
const largestEntry = 1024 * 1024;

/** The cache of one sandbox. Keys are digests, so that no values of variables are kept. */
export function executionCache(): ExecutionCache {
  const entries = new LRUCache<string, Outcome>({
    max: mostKeptOutcomes,
    maxSize: mostBytes,
    maxEntrySize: largestEntry,
    ttl: outcomeLifetime * 1000,
    sizeCalculation: (outcome) => JSON.stringify(outcome).length,
  });
  const kept = {
    get: (key: string) => entries.get(key),
    set: (key: string, outcome: Outcome) => void entries.set(key, outcome),
    clear: () => entries.clear(),
    get size() {
      entries.purgeStale();
      return entries.size;
    },
  };
  return new ExecutionCache(kept, (text) => createHash("sha256").update(text).digest("base64"));
}
