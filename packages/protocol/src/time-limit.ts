/** A signal that aborts when `signal` does, or after so many milliseconds. */
export function timeLimit(milliseconds: number, signal: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(milliseconds);
  // Node.js 20 collects a timeout to which only `AbortSignal.any` refers, and then it never aborts. A listener keeps it.
  limit.addEventListener("abort", () => undefined, { once: true });
  return AbortSignal.any([signal, limit]);
}
