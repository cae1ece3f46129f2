import {
  ExecutionCache,
  mostKeptOutcomes,
  type Outcome,
  outcomeLifetime,
} from "@cloud-sandbox/server-kit/handlers";

/** The execution cache of one machine. Entries expire by the testing service's clock. */
export function executionCache(now: () => Date): ExecutionCache {
  const entries = new Map<string, { readonly outcome: Outcome; readonly until: number }>();
  const removeExpired = (): void => {
    for (const [key, { until }] of entries) if (until <= now().getTime()) entries.delete(key);
  };
  const kept = {
    get(key: string) {
      removeExpired();
      return entries.get(key)?.outcome;
    },
    set(key: string, outcome: Outcome) {
      entries.set(key, { outcome, until: now().getTime() + outcomeLifetime * 1000 });
      const [oldest] = entries.keys();
      if (entries.size > mostKeptOutcomes && oldest !== undefined) entries.delete(oldest);
    },
    clear: () => entries.clear(),
    get size() {
      removeExpired();
      return entries.size;
    },
  };
  return new ExecutionCache(kept, (text) => text);
}
