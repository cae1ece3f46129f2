import type { Http2Session } from "node:http2";

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

/** Milliseconds between two pings. The other end must answer one before the next is due. */
const checkMs = 20_000;

/**
 * Ends a session whose other end does not answer pings. If its machine is gone, the connection does not close by itself.
 * `isFrozen`: whether the other end cannot answer now, because its machine is frozen.
 */
export function endIfSilent(session: Http2Session, isFrozen: () => boolean = () => false): void {
  let isAnswered = true;
  let stop = (): void => undefined;
  const check = (): void => {
    if (!isAnswered && !isFrozen()) return void session.destroy();
    isAnswered = isFrozen();
    if (!isAnswered)
      session.ping((error) => {
        isAnswered ||= error === null;
      });
    stop = countdown(checkMs, check);
  };
  stop = countdown(checkMs, check);
  session.once("close", () => stop());
}
