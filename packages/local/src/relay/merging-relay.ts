import type { IncomingMessage } from "node:http";
import type { Writable } from "node:stream";
import { GatheredBytes } from "@cloud-sandbox/protocol/gathered-bytes";

/** Bytes buffered on each side of a relay before the sender is paused. Larger buffers pause less often. */
export const relayBufferBytes = 256 * 1024;

/**
 * The fewest bytes that pieces may have on average when the reader is behind. Node.js reads as many bytes ahead as the connection
 * buffers, and each piece of them costs hundreds of bytes more.
 */
const leastPieceBytes = 16;

/**
 * Passes the body of a message on, and ends `target` with it. Pieces that come while the reader is behind are sent as one, because
 * whoever sends them decides how many there are. A message of very many tiny pieces that nobody reads is cut.
 */
export function relayBody(message: IncomingMessage, target: Writable): void {
  const waiting = new GatheredBytes();
  let pieces = 0;
  let isWriting = false;
  const write = (): void => {
    if (isWriting || waiting.length === 0) return;
    const bytes = waiting.bytes;
    waiting.drop(bytes.length);
    pieces = 0;
    isWriting = true;
    target.write(bytes, () => {
      isWriting = false;
      write();
      if (message.isPaused() && !isWriting) message.resume();
    });
  };
  message.on("data", (piece: Buffer) => {
    waiting.add(piece);
    pieces += 1;
    write();
    if (waiting.length < relayBufferBytes) return;
    if (waiting.length < pieces * leastPieceBytes)
      message.destroy(new Error("The body comes in pieces that are too small for a reader this slow."));
    else message.pause();
  });
  message.once("end", () => {
    const rest = waiting.bytes;
    waiting.drop(rest.length);
    // Writes are made in their order.
    target.end(rest);
  });
}

/**
 * The same for a request. If its server reads no more of it, the rest is read in vain: a connection that is closed with bytes that
 * nobody has read loses the answer too.
 */
export function relayRequest(message: IncomingMessage, target: Writable): void {
  relayBody(message, target);
  target.once("close", () => message.removeAllListeners("data").resume());
  message.once("close", () => {
    if (!message.readableEnded) target.destroy();
  });
}
