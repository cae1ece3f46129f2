import type { Http2Session } from "node:http2";

/** Milliseconds between two pings. The other end must answer one before the next is due. */
const checkMs = 20_000;

/** Ends a session whose other end does not answer pings. If its machine is gone, the connection does not close by itself. */
export function endIfSilent(session: Http2Session): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    if (!isAnswered) return void session.destroy();
    isAnswered = false;
    session.ping((error) => {
      isAnswered ||= error === null;
    });
  }, checkMs).unref();
  session.once("close", () => clearInterval(timer));
}
