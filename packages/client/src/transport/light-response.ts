import type { Plane } from "../error-from-response.js";
import { InvalidResponseError } from "../errors.js";
import { safeHeaders } from "../redaction.js";

/** What is known of the call that an answer belongs to. */
export interface CallFacts {
  plane: Plane;
  requestId: string;
  secrets(): readonly string[];
}

/** An answer as openapi-fetch reads it: its text is here already, or it is a stream. */
export class LightResponse implements Response {
  readonly redirected = false;
  readonly type = "default";
  readonly statusText = "";
  readonly headers: Headers;
  #content: string | ReadableStream<Uint8Array> | null;
  #used = false;

  constructor(
    readonly url: string,
    readonly status: number,
    headers: Headers,
    content: string | ReadableStream<Uint8Array> | null,
    readonly call: CallFacts,
  ) {
    this.#content = content;
    this.headers = typeof content === "string" ? withLength(headers, content) : headers;
  }

  get streams(): boolean {
    return this.#content instanceof ReadableStream;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return typeof this.#content === "string" ? new Blob([this.#content]).stream() : this.#content;
  }

  async json(): Promise<unknown> {
    const text = await this.text();
    try {
      return JSON.parse(text);
    } catch {
      // Without the parser's error: it quotes the text.
      throw this.#notJson(text);
    }
  }

  async text(): Promise<string> {
    if (typeof this.#content === "string") return this.#take(this.#content);
    return new Response(this.#take(this.#content)).text();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#full().arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.#full().blob();
  }

  formData(): Promise<FormData> {
    return this.#full().formData();
  }

  clone(): LightResponse {
    const { url, status, headers, call } = this;
    if (this.#content === null || typeof this.#content === "string") {
      return new LightResponse(url, status, headers, this.#content, call);
    }
    const [mine, theirs] = this.#content.tee();
    this.#content = mine;
    return new LightResponse(url, status, headers, theirs, call);
  }

  #full(): Response {
    return new Response(this.#take(this.#content), { headers: this.headers });
  }

  #take<Content>(content: Content): Content {
    if (this.#used) throw new TypeError("The body of this response was read already.");
    this.#used = true;
    return content;
  }

  #notJson(text: string): InvalidResponseError {
    const type = this.headers.get("content-type") ?? "no content type";
    const form = /\bjson\b/i.test(type) ? "JSON that breaks off or is malformed" : `${type} instead of JSON`;
    return invalidResponse(this, `The server answered with ${form}, ${text.length} characters.`);
  }
}

/** An answer that is not what the operation promises. */
export function invalidResponse(response: LightResponse, summary: string): InvalidResponseError {
  const { call, headers, status } = response;
  return new InvalidResponseError({
    summary,
    hint: "Check that the base URL is that of a sandbox service and that nothing between rewrites its answers.",
    code: "INVALID_RESPONSE",
    requestId: headers.get("x-request-id") ?? call.requestId,
    status,
    headers: safeHeaders(headers, call.secrets()),
  });
}

/** openapi-fetch reads a body of known length with `json()`, whose failures are typed. */
function withLength(headers: Headers, text: string): Headers {
  if (headers.get("content-length") !== null) return headers;
  const all = new Headers([...headers]);
  all.set("content-length", String(new TextEncoder().encode(text).length));
  return all;
}
