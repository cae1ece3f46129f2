import type { Observer, Observers } from "./observer.js";

/**
 * The observer, or undefined if there is no hook, log or tracing: creating events costs time, and so does loading their
 * code.
 */
export async function observerOf(parts: Observers): Promise<Observer | undefined> {
  const { log, tracing } = parts;
  const { onError, onRequest, onResponse, onRetry } = parts.hooks;
  const someone = log ?? tracing ?? onError ?? onRequest ?? onResponse ?? onRetry;
  return someone === undefined ? undefined : new (await import("./observer.js")).Observer(parts);
}
