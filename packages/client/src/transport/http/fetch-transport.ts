import { clientClosed } from "../../errors/errors.js";
import type { CallScope } from "../calls/calls.js";
import { MultipartForm } from "./multipart.js";
import {
  type AnswerHeaders,
  type IncomingResponse,
  type OutgoingRequest,
  type Pieces,
  readAll,
  type Transport,
} from "./transport.js";

/** A `fetch` function. It is called with real `Request` objects. */
export type Fetch = (request: Request) => Promise<Response>;

/** Sends requests with `fetch`: in runtimes other than Node.js, or with a `fetch` that the caller gives. */
export class FetchTransport implements Transport {
  readonly #fetch: Fetch;
  #closed = false;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async send(outgoing: OutgoingRequest): Promise<IncomingResponse> {
    if (this.#closed) throw clientClosed();
    const { method, origin, path, headers, onSent, scope } = outgoing;
    const body = outgoing.body instanceof MultipartForm ? new Blob([...outgoing.body.parts]) : outgoing.body;
    const init: RequestInit = { method, headers, body, signal: scope.abortSignal, redirect: "manual" };
    if (body instanceof ReadableStream) init.duplex = "half";
    const request = new Request(origin + path, init);
    requests.set(scope, request);
    const response = new FetchResponse(await this.#fetch(request));
    // Report the upload only once, at the end: `fetch` gives no progress.
    if (body instanceof Blob) onSent?.(body.size);
    return response;
  }

  async close(): Promise<void> {
    // Nothing to close: the connections belong to the `fetch` function.
    this.#closed = true;
  }
}

/**
 * The request of each call, kept as long as the call's scope is. Node.js links a request to its signal by a weak reference:
 * without this, a request that was garbage-collected while its answer was awaited could not be aborted any more, neither by
 * the caller's signal nor by a time limit.
 */
const requests = new WeakMap<CallScope, Request>();

class FetchResponse implements IncomingResponse {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
    // Browsers hide the status of a redirect that was not followed.
    this.status = response.type === "opaqueredirect" ? 302 : response.status;
    const headers = Object.fromEntries(response.headers);
    if ("content-encoding" in headers) {
      // Delete both headers: they describe the compressed body, but `fetch` has decompressed it.
      delete headers["content-encoding"];
      delete headers["content-length"];
    }
    this.headers = headers;
  }

  /** Reads the whole body and ignores the declared length: in a browser it may be that of the compressed body. */
  async bytes(_: number, expectChunk: () => void, most: number): Promise<ArrayBuffer> {
    const pieces = this.pieces();
    return pieces === null ? new ArrayBuffer(0) : (await readAll(pieces, most, expectChunk)).arrayBuffer();
  }

  async text(limit: number): Promise<string> {
    const pieces = this.pieces();
    return pieces === null ? this.#response.text() : (await readAll(pieces, limit)).text();
  }

  pieces(): Pieces | null {
    const reader = this.#response.body?.getReader();
    return reader === undefined ? null : { next: () => reader.read(), leave: () => reader.cancel() };
  }

  abandon(): void {
    this.#response.body?.cancel().catch(ignore);
  }
}

function ignore(): void {
  // Nothing to do: cancelling the body was intended.
}
