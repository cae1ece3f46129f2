/** The seam between what this client knows about HTTP and what carries the bytes. */

export type RequestBody = string | Uint8Array | Blob | FormData | ReadableStream<Uint8Array>;

export interface OutgoingRequest {
  method: string;
  /** Scheme, host and port; `path` is the rest of the address, ready to be sent. */
  origin: string;
  path: string;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: RequestBody | null;
  signal: AbortSignal;
}

/** An answer whose headers have arrived. Exactly one of `text`, `stream` and `discard` is called. */
export interface IncomingResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body, decoded. Throws `BodyTooLarge` beyond `limit` bytes. */
  text(limit: number): Promise<string>;
  stream(): ReadableStream<Uint8Array> | null;
  discard(): Promise<void>;
}

export interface Transport {
  /** Resolves for every status; redirects are not followed. Rejects with the carrier's own error. */
  send(request: OutgoingRequest): Promise<IncomingResponse>;
  /** Lets calls under way finish, then closes the connections. */
  close(): Promise<void>;
}

/** The body is longer than its reader accepts. */
export class BodyTooLarge extends Error {
  constructor(readonly limit: number) {
    super(`The body is longer than ${limit} bytes`);
  }
}
