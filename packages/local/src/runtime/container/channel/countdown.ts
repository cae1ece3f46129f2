const tickMs = 1000;

/**
 * Calls `onZero` after `ms` in which this process ran. A time in which it was frozen counts as a second at most: a plain timer
 * would fire when it goes on, before it reads what has arrived. Does not keep the process from ending. Returns how to stop.
 */
export function countdown(
  ms: number,
  onZero: () => void,
  isCounting: () => boolean = () => true,
): () => void {
  let rest = ms;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    const stepMs = Math.min(rest, tickMs);
    timer = setTimeout(() => {
      if (isCounting()) rest -= stepMs;
      if (rest > 0) next();
      else onZero();
    }, stepMs).unref();
  };
  next();
  return () => clearTimeout(timer);
}
