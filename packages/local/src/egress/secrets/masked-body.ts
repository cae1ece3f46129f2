import type { Readable, Transform, Writable } from "node:stream";
import type { LoggedRequest } from "../egress-log.js";
import { ValueMask } from "./value-mask.js";

/** Bytes that may wait for a reader before the sender is paused. With less, both would mostly wait for each other. */
const waitingBytes = 256 * 1024;

/** Passes the body of an answer on, without the values. `encoding`: its header Content-Encoding. */
export function relayAnswer(
  from: Readable,
  to: Writable,
  entry: LoggedRequest,
  { encoding: header, values }: { readonly encoding: string | undefined; readonly values: readonly string[] },
): void {
  const encoding = searchedEncoding(header);
  if (values.length > 0 && encoding !== undefined)
    return void relayCompressed(from, to, entry, { encoding, values });
  const count = (bytes: number): void => {
    entry.bytesReceived += bytes;
  };
  relayBody(from, to, count, values.length === 0 ? undefined : new ValueMask(values));
}

/** Passes a body on and ends `to` with it. What breaks ends the other side too. `count` is told the bytes passed on. */
export function relayBody(
  from: Readable,
  to: Writable,
  count: (bytes: number) => void,
  mask?: ValueMask,
): void {
  from.on("data", (piece: Buffer) => {
    const bytes = mask ? mask.add(piece) : piece;
    if (bytes.length === 0) return;
    count(bytes.length);
    to.write(bytes);
    if (to.writableLength > waitingBytes) from.pause();
  });
  to.on("drain", () => from.resume());
  from.once("end", () => to.end(mask?.rest()));
  endTogether(from, to);
}

/** Most bytes to which an answer may inflate while it is searched, and how many times its own bytes beyond them. */
const mostInflated = 64 * 1024 * 1024;
const mostTimes = 100;

/**
 * Passes a compressed body on as long as none of the values is in it. Destroys both streams when there is one, or when it inflates
 * to more than is searched, and says so in `entry`.
 */
async function relayCompressed(
  from: Readable,
  to: Writable,
  entry: LoggedRequest,
  { encoding, values }: { readonly encoding: string; readonly values: readonly string[] },
): Promise<void> {
  endTogether(from, to);
  const { createBrotliDecompress, createInflateRaw, createUnzip } = await import("node:zlib");
  const decoders: Transform[] = [encoding === "br" ? createBrotliDecompress() : createUnzip()];
  // Some servers leave out the header of deflate, and most programs read that too.
  if (encoding === "deflate") decoders.push(createInflateRaw());
  const masks = decoders.map(() => new ValueMask(values));
  // The bytes themselves: they may be no such compression.
  const unread = new ValueMask(values);
  let received = 0;
  let isTooLarge = false;
  for (const [index, plain] of decoders.entries()) {
    let inflated = 0;
    plain.on("data", (piece: Buffer) => {
      inflated += piece.length;
      isTooLarge ||= inflated > mostInflated && inflated > mostTimes * received;
      if (isTooLarge) plain.destroy();
      else masks[index]?.add(piece);
    });
    // It is no such compression, or something follows it.
    plain.once("error", () => plain.destroy()).once("end", () => plain.destroy());
    to.once("close", () => plain.destroy());
  }
  try {
    for await (const piece of from as AsyncIterable<Buffer>) {
      received += piece.length;
      unread.add(piece);
      await Promise.all(decoders.map((plain) => decoded(plain, piece)));
      if (isTooLarge) {
        entry.end("failed", "The answer inflates to more than is searched for a secret, and was cut.");
        cut(to);
        return;
      }
      if ([unread, ...masks].some(({ hasFound }) => hasFound)) {
        entry.end("failed", "The answer repeats a secret, compressed, and was cut.");
        cut(to);
        return;
      }
      entry.bytesReceived += piece.length;
      if (!to.write(piece)) await drainedOrOver(to);
    }
    to.end();
  } catch {
    // The other stream was destroyed.
  } finally {
    for (const plain of decoders) plain.destroy();
  }
}

/** Resolves when a piece was decoded, or cannot be. */
function decoded(plain: Transform, piece: Buffer): Promise<void> {
  if (plain.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      plain.removeListener("close", settle);
      resolve();
    };
    plain.once("close", settle);
    plain.write(piece, settle);
  });
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

const searchedEncodings: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br"]);

/** The encoding of an answer, if it is one that is searched for values. Others are passed on. */
function searchedEncoding(header: string | undefined): string | undefined {
  const all = (header ?? "").toLowerCase().split(",");
  const [encoding = "", ...others] = all.map((each) => each.trim()).filter((each) => each !== "identity");
  return others.length === 0 && searchedEncodings.has(encoding) ? encoding : undefined;
}

/** Ends a message that is not whole. Without an error, a stream of HTTP/2 would end as if it were. */
const cut = (message: Readable | Writable): void => {
  message.destroy(new Error("The message was cut."));
};

function endTogether(from: Readable, to: Writable): void {
  from.once("error", () => cut(to));
  from.once("close", () => {
    if (!from.readableEnded) cut(to);
  });
  to.once("error", () => cut(from));
  to.once("close", () => {
    if (!to.writableFinished) cut(from);
  });
}
