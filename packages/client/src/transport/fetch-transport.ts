import { BodyTooLarge, type IncomingResponse, type OutgoingRequest, type Transport } from "./transport.js";

/** A `fetch` as it can be given: it gets real `Request` objects. */
export type Fetch = (request: Request) => Promise<Response>;

/** The road of every other runtime, and of a `fetch` the caller brings. */
export class FetchTransport implements Transport {
  constructor(private readonly fetch: Fetch) {}

  async send(outgoing: OutgoingRequest): Promise<IncomingResponse> {
    const { method, origin, path, headers, body, signal } = outgoing;
    const init: RequestInit = { method, headers, body, signal, redirect: "manual" };
    if (body instanceof ReadableStream) init.duplex = "half";
    return new FetchResponse(await this.fetch(new Request(origin + path, init)));
  }

  async close(): Promise<void> {
    // Its connections are whoever's it is.
  }
}

class FetchResponse implements IncomingResponse {
  readonly status: number;
  readonly headers: Headers;

  constructor(private readonly response: Response) {
    // Browsers hide the status of a redirect that is not followed.
    this.status = response.type === "opaqueredirect" ? 302 : response.status;
    this.headers = response.headers;
  }

  async text(limit: number): Promise<string> {
    const reader = this.response.body?.getReader();
    if (reader === undefined) return this.response.text();
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      bytes += chunk.value.length;
      if (bytes > limit) {
        await reader.cancel();
        throw new BodyTooLarge(limit);
      }
      text += decoder.decode(chunk.value, { stream: true });
    }
    return text + decoder.decode();
  }

  stream(): ReadableStream<Uint8Array> | null {
    return this.response.body;
  }

  async discard(): Promise<void> {
    await this.response.body?.cancel();
  }
}
