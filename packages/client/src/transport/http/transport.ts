/** The interface between this client and the HTTP implementations that it can use. */
import { GatheredBytes } from "@cloud-sandbox/protocol/gathered-bytes";
import type { CallScope } from "../calls/calls.js";
import type { MultipartForm } from "./multipart.js";

export type RequestBody = string | Uint8Array | Blob | MultipartForm | ReadableStream<Uint8Array>;

export interface OutgoingRequest {
  method: string;
  /** Scheme, host and port; `path` is the rest of the URL, already encoded. */
  origin: string;
  path: string;
  /** Header values by lower-case name. */
  headers: Record<string, string>;
  body: RequestBody | null;
  /** Called with the number of body bytes sent so far. */
  onSent?: ((bytes: number) => void) | undefined;
  /** Stops the request. */
  scope: CallScope;
}

/** The body of an answer. Not a `ReadableStream`, so that there is one between the connection and the reader, and not two. */
export interface Pieces {
  next(): Promise<{ done?: false; value: Uint8Array } | { done: true }>;
  /** Closes the connection, even while `next` is waiting. */
  leave(): void | Promise<void>;
}

/** Headers of an answer, by lower-case name. The values of one that came several times are joined by commas. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** An answer whose headers have arrived. Exactly one of its methods must be called. */
export interface IncomingResponse {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /**
   * Reads the whole body, of the declared length. Calls `expectChunk` before waiting for each piece. If the
   * implementation does not enforce the length, throws a `BodyTooLarge` above `most` bytes.
   */
  bytes(length: number, expectChunk: () => void, most: number): Promise<ArrayBuffer>;
  /** Reads the whole body as text. Throws a `BodyTooLarge` above `limit` bytes. */
  text(limit: number): Promise<string>;
  /** The body, piece by piece; null if there is none. */
  pieces(): Pieces | null;
  /** Closes the connection without reading the body. */
  abandon(): void;
}

export interface Transport {
  /** Resolves for every status; does not follow redirects. Rejects with the implementation's own error. */
  send(request: OutgoingRequest): Promise<IncomingResponse>;
  /** Closes the connections. Only aborted calls may still be using one. */
  close(): Promise<void>;
}

/** Bytes up to which a body is read or sent as a whole, because streaming it costs more. */
export const smallBody = 4 * 1024 * 1024;

/** Value of Content-Length; NaN if the header is missing. */
export function declaredLength(headers: AnswerHeaders): number {
  return Number.parseInt(headers["content-length"] ?? "", 10);
}

/** Bytes of a piece that is kept as it came. Smaller ones are copied together, because each piece costs some hundred bytes more. */
const largePiece = 4096;

/** Reads a whole body. Above `limit` bytes, closes the connection and throws a `BodyTooLarge`. */
export async function readAll(pieces: Pieces, limit: number, expectChunk?: () => void): Promise<Blob> {
  const chunks: Uint8Array[] = [];
  let small = new GatheredBytes();
  const keepSmall = (): void => {
    if (small.length > 0) chunks.push(small.bytes);
    small = new GatheredBytes();
  };
  let length = 0;
  for (;;) {
    expectChunk?.();
    const piece = await pieces.next();
    if (piece.done) {
      keepSmall();
      return new Blob(chunks as Uint8Array<ArrayBuffer>[]);
    }
    if (piece.value.length < largePiece) small.add(piece.value);
    else {
      keepSmall();
      chunks.push(piece.value);
    }
    if (small.length > 16 * largePiece) keepSmall();
    length += piece.value.length;
    if (length > limit) {
      await pieces.leave();
      throw new BodyTooLarge(limit);
    }
  }
}

/** Internal error: the body is longer than the limit. */
export class BodyTooLarge extends Error {
  constructor(readonly limit: number) {
    super(`The body is longer than ${limit} bytes`);
  }
}

/** Bytes of a request body to read while earlier ones are being sent. */
export const readAhead = 512 * 1024;
