import type { Readable, Writable } from "node:stream";
import type { LoggedRequest } from "../egress-log.js";
import { ValueMask } from "./value-mask.js";

/** Bytes that may wait for a reader before the sender is paused. With less, both would mostly wait for each other. */
const waitingBytes = 256 * 1024;

/** Passes a body on and ends `to` with it. What breaks ends the other side too. `count` is told the bytes passed on. */
export function relayBody(
  from: Readable,
  to: Writable,
  count: (bytes: number) => void,
  mask?: ValueMask,
): void {
  pass(from, to, count, mask);
  endTogether(from, to);
}

/**
 * Passes the body of a request on. If its server reads no more of it, the rest is read in vain: a connection that is closed with bytes
 * that nobody has read loses the answer too.
 */
export function relayRequest(
  from: Readable,
  to: Writable,
  count: (bytes: number) => void = () => undefined,
): void {
  pass(from, to, count);
  to.once("close", () => from.removeAllListeners("data").resume());
  from.once("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}

function pass(from: Readable, to: Writable, count: (bytes: number) => void, mask?: ValueMask): void {
  const resume = (): void => {
    if (to.writableLength <= waitingBytes) from.resume();
  };
  from.on("data", (piece: Buffer) => {
    const bytes = mask ? mask.add(piece) : piece;
    if (bytes.length === 0) return;
    count(bytes.length);
    // No drain event: Node.js emits none for a request once its answer is whole, and the server may read on.
    to.write(bytes, resume);
    if (to.writableLength > waitingBytes) from.pause();
  });
  from.once("end", () => to.end(mask?.rest()));
}

/** Most bytes to which an answer may inflate while it is searched, and how many times its own bytes beyond them. */
const mostInflated = 64 * 1024 * 1024;
const mostTimes = 100;

/**
 * Passes a compressed body on as long as none of the values is in it. Destroys both streams when there is one, or when it inflates
 * to more than is searched, and says so in `entry`.
 */
export async function relayCompressed(
  from: Readable,
  to: Writable,
  entry: LoggedRequest,
  { encoding, values }: { readonly encoding: string; readonly values: readonly string[] },
): Promise<void> {
  endTogether(from, to);
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const mask = new ValueMask(values);
  const plain = encoding === "br" ? createBrotliDecompress() : createUnzip();
  let isReadable = true;
  let received = 0;
  let inflated = 0;
  let isTooLarge = false;
  plain.on("data", (piece: Buffer) => {
    inflated += piece.length;
    isTooLarge = inflated > mostInflated && inflated > mostTimes * received;
    if (isTooLarge) plain.destroy();
    else mask.add(piece);
  });
  plain.on("error", () => {
    isReadable = false;
  });
  to.once("close", () => plain.destroy());
  const over = new Promise<void>((resolve) => plain.once("close", resolve));
  try {
    for await (const piece of from as AsyncIterable<Buffer>) {
      received += piece.length;
      if (isReadable)
        await Promise.race([over, new Promise<void>((resolve) => void plain.write(piece, () => resolve()))]);
      if (isTooLarge) {
        entry.end("failed", "The answer inflates to more than is searched for a secret, and was cut.");
        to.destroy();
        return;
      }
      if (mask.hasFound) {
        entry.end("failed", "The answer repeats a secret, compressed, and was cut.");
        to.destroy();
        return;
      }
      entry.bytesReceived += piece.length;
      if (!to.write(piece)) await drainedOrOver(to);
    }
    to.end();
  } catch {
    // The other stream was destroyed.
  } finally {
    plain.destroy();
  }
}

function drainedOrOver(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      to.removeListener("drain", settle).removeListener("close", settle);
      resolve();
    };
    to.on("drain", settle).on("close", settle);
  });
}

/** The encodings that are searched for values. Others are passed on. */
export const searchedEncodings: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br"]);

function endTogether(from: Readable, to: Writable): void {
  from.once("error", () => to.destroy());
  from.once("close", () => {
    if (!from.readableEnded) to.destroy();
  });
  to.once("error", () => from.destroy());
  to.once("close", () => {
    if (!to.writableFinished) from.destroy();
  });
}
