import type { Http2Session } from "node:http2";

/** Milliseconds between two checks of a session, and that the other end has to answer one. */
const checkMs = 20_000;

/** Ends a session when the other end does not answer any more, as when its machine is gone: such a connection does not close. */
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
