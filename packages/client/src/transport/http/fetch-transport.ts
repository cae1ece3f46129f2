import { clientClosed } from "../../errors/errors.js";
import { MultipartForm } from "./multipart.js";
import { type IncomingResponse, type OutgoingRequest, readAll, type Transport } from "./transport.js";

/** A `fetch` as it can be given: it gets real `Request` objects. */
export type Fetch = (request: Request) => Promise<Response>;

/** The road of every other runtime, and of a `fetch` the caller brings. */
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
    const response = new FetchResponse(await this.#fetch(new Request(origin + path, init)));
    // A fetch tells nothing on the way.
    if (body instanceof Blob) onSent?.(body.size);
    return response;
  }

  async close(): Promise<void> {
    // Its connections belong to whose it is.
    this.#closed = true;
  }
}

class FetchResponse implements IncomingResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
    // Browsers hide the status of a redirect that is not followed.
    this.status = response.type === "opaqueredirect" ? 302 : response.status;
    this.headers = response.headers;
    if (!this.headers.has("content-encoding")) return;
    // They tell of the body as it was sent, and a fetch decodes it.
    this.headers = new Headers(this.headers);
    this.headers.delete("content-encoding");
    this.headers.delete("content-length");
  }

  /** As long as it is: that it was decoded is hidden in browsers, and the length that was sent is not. */
  async bytes(_: number, expectChunk: () => void, most: number): Promise<ArrayBuffer> {
    const stream = this.stream();
    return stream === null ? new ArrayBuffer(0) : (await readAll(stream, most, expectChunk)).arrayBuffer();
  }

  async text(limit: number): Promise<string> {
    const stream = this.stream();
    return stream === null ? this.#response.text() : (await readAll(stream, limit)).text();
  }

  stream(): ReadableStream<Uint8Array> | null {
    return this.#response.body;
  }

  abandon(): void {
    this.#response.body?.cancel().catch(ignore);
  }
}

function ignore(): void {
  // That the body breaks off is what was wanted.
}
