import type { Http2Session } from "node:http2";
import { countdown } from "./countdown.js";

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
