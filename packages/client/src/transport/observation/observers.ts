import type { Observer, Observers } from "./observer.js";

/** None where nobody wants to know: making events costs, and so does loading what makes them. */
export async function observerOf(parts: Observers): Promise<Observer | undefined> {
  const { log, tracing } = parts;
  const { onError, onRequest, onResponse, onRetry } = parts.hooks;
  const someone = log ?? tracing ?? onError ?? onRequest ?? onResponse ?? onRetry;
  return someone === undefined ? undefined : new (await import("./observer.js")).Observer(parts);
}
