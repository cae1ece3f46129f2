/** The seam between what this client knows about HTTP and what carries the bytes. */
import type { CallScope } from "../calls/call-scope.js";
import type { MultipartForm } from "./multipart.js";

export type RequestBody = string | Uint8Array | Blob | MultipartForm | ReadableStream<Uint8Array>;

export interface OutgoingRequest {
  method: string;
  /** Scheme, host and port; `path` is the rest of the address, ready to be sent. */
  origin: string;
  path: string;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: RequestBody | null;
  /** Of a request for a file's content: the beginning of `path`, where a tunnel to its agent may be had. */
  tunnelAt?: string | undefined;
  /** Is told how many bytes of the body were sent so far. */
  onSent?: ((bytes: number) => void) | undefined;
  /** Stops it. */
  scope: CallScope;
}

/** An answer whose headers have arrived. Exactly one of its methods is called. */
export interface IncomingResponse {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The whole body, of the length that it declares. `expectChunk` is called before each piece is waited for. Where bodies are not
   * held to their length, throws a `BodyTooLarge` for more than `most` bytes.
   */
  bytes(length: number, expectChunk: () => void, most: number): Promise<ArrayBuffer>;
  /** The whole body, decoded. Throws `BodyTooLarge` beyond `limit` bytes. */
  text(limit: number): Promise<string>;
  stream(): ReadableStream<Uint8Array> | null;
  /** Closes the connection: nobody wants the body. */
  abandon(): void;
}

export interface Transport {
  /** Resolves for every status; redirects are not followed. Rejects with the carrier's own error. */
  send(request: OutgoingRequest): Promise<IncomingResponse>;
  /** Closes the connections: the calls are over, but for those that were given up. */
  close(): Promise<void>;
}

/** Bytes that are cheaper to hold at once than to pass on in pieces. */
export const smallBody = 4 * 1024 * 1024;

/** What Content-Length says; NaN where it does not. */
export function declaredLength(headers: Headers): number {
  return Number.parseInt(headers.get("content-length") ?? "", 10);
}

/** All of a stream. Beyond `limit` bytes it is cancelled and `BodyTooLarge` thrown. */
export async function readAll(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  expectChunk?: () => void,
): Promise<Blob> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  expectChunk?.();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    chunks.push(chunk.value);
    length += chunk.value.length;
    expectChunk?.();
    if (length <= limit) continue;
    await reader.cancel();
    throw new BodyTooLarge(limit);
  }
  return new Blob(chunks);
}

/** The body is longer than its reader accepts. */
export class BodyTooLarge extends Error {
  constructor(readonly limit: number) {
    super(`The body is longer than ${limit} bytes`);
  }
}

/** Bytes of a body that are read while those before them are sent. */
export const readAhead = 512 * 1024;
