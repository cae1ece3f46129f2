interface Audience {
  stops: Set<() => void>;
  listener: () => void;
}

const audiences = new WeakMap<AbortSignal, Audience>();

/**
 * Calls `stop` when the caller's signal fires; the returned function cancels that. Adds only one listener per signal,
 * because Node.js warns of a leak at more than ten.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  const audience = audiences.get(signal) ?? gather(signal);
  audience.stops.add(stop);
  return () => {
    if (!audience.stops.delete(stop) || audience.stops.size > 0) return;
    signal.removeEventListener("abort", audience.listener);
    audiences.delete(signal);
  };
}

function gather(signal: AbortSignal): Audience {
  const stops = new Set<() => void>();
  const listener = (): void => {
    for (const stop of [...stops]) stop();
  };
  const audience = { stops, listener };
  signal.addEventListener("abort", listener);
  audiences.set(signal, audience);
  return audience;
}
