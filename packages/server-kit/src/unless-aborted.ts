import { once } from "node:events";

/**
 * Waits for an answer that a signal is to abort. Rejects when it does, also if the answer never settles: that of the library for
 * Docker does not, when the answer had begun.
 */
export async function unlessAborted<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const stopped = new AbortController();
  const aborted = once(signal, "abort", { signal: stopped.signal });
  try {
    signal.throwIfAborted();
    return await Promise.race([answer, aborted.then(() => Promise.reject(signal.reason))]);
  } finally {
    answer.catch(() => undefined);
    aborted.catch(() => undefined);
    stopped.abort();
  }
}
