import type { ServerResponse } from "node:http";

/** Milliseconds for which the rest of a request is read whose answer is the last of its connection. */
const readOnMs = 10_000;

/**
 * Ends the last answer of a connection, of which `text` is the body, once its request was read: a connection that is closed with bytes that
 * nobody has read loses the answer. The answer must say its length, so that its reader does not wait.
 */
export function endWhenRead(answer: ServerResponse, text: string): void {
  const { req } = answer;
  if (req.complete) return void answer.end(text);
  answer.write(text);
  const end = (): void => {
    clearTimeout(late);
    answer.end();
  };
  const late = setTimeout(end, readOnMs).unref();
  req.once("end", end).once("close", end).resume();
}
