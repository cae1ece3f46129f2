import { createHash } from "node:crypto";
import {
  ExecutionCache,
  mostKeptOutcomes,
  type Outcome,
  outcomeLifetime,
} from "@cloud-sandbox/server-kit/handlers";
import { LRUCache } from "lru-cache";

/** Largest size of all cached outcomes together, and of a single one, as characters of JSON. */
const mostBytes = 16 * 1024 * 1024;
const largestEntry = 1024 * 1024;

/** The execution cache of one sandbox. Keys are SHA-256 digests, so that values of variables are not kept. */
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
