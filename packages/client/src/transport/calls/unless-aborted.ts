import type { StopSignal } from "./call-scope.js";

/** `work`, or the signal's reason if that comes first: one of several callers need not wait as long as the others. */
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
