import type { StopSignal } from "./call-scope.js";

/**
 * Awaits `work`, or rejects with the signal's reason if it fires first. `work` itself continues, because other callers
 * may wait for it.
 */
export async function unlessAborted<Value>(work: Promise<Value>, signal: StopSignal): Promise<Value> {
  if (signal.aborted) throw signal.reason;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
