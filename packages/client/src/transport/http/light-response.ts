import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";
import type { Plane } from "../../errors/error-from-response.js";
import { InvalidResponseError, type SandboxError } from "../../errors/errors.js";
import { redact, safeHeaders } from "../../errors/redaction.js";

/**
 * Data about the call that a response belongs to, for its errors: which service, which request id, which secrets to
 * hide.
 */
export interface CallFacts {
  plane: Plane;
  requestId: string;
  /** Whether the call may be repeated even if the server already did the work. */
  harmless: boolean;
  secrets(): readonly string[];
  /** Reports the error that the caller gets in place of the answer. */
  failed(error: SandboxError): void;
}

/** A complete body (text or bytes), or a stream that is still arriving. */
export type LightContent = string | ArrayBuffer | Blob | ReadableStream<Uint8Array> | null;

let factsOf: (response: LightResponse) => CallFacts;

/** An answer in the form that openapi-fetch reads. */
export class LightResponse implements Response {
  readonly redirected = false;
  readonly type = "default";
  readonly statusText = "";
  readonly headers: Headers;
  readonly #call: CallFacts;
  #content: LightContent;
  #used = false;

  static {
    factsOf = (response) => response.#call;
  }

  constructor(
    readonly url: string,
    readonly status: number,
    headers: Headers,
    content: LightContent,
    call: CallFacts,
  ) {
    this.#call = call;
    this.#content = content;
    this.headers = withLength(headers, content);
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
    if (typeof this.#content === "string" || this.#content instanceof ArrayBuffer)
      return new Blob([this.#content]).stream();
    return this.#content instanceof Blob ? this.#content.stream() : this.#content;
  }

  async json(): Promise<unknown> {
    const text = await this.text();
    if (!isModestJson(text)) throw this.#notModest();
    try {
      return JSON.parse(text);
    } catch {
      // Drop the parser's error, because it quotes the text.
      throw this.#notJson(text);
    }
  }

  async text(): Promise<string> {
    if (typeof this.#content === "string") return this.#take(this.#content);
    return new Response(this.#take(this.#content)).text();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#content instanceof ArrayBuffer) return this.#take(this.#content);
    return this.#full().arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.#full().blob();
  }

  formData(): Promise<FormData> {
    return this.#full().formData();
  }

  clone(): LightResponse {
    const { url, status, headers } = this;
    if (!(this.#content instanceof ReadableStream)) {
      return new LightResponse(url, status, headers, this.#content, this.#call);
    }
    const [mine, theirs] = this.#content.tee();
    this.#content = mine;
    return new LightResponse(url, status, headers, theirs, this.#call);
  }

  #full(): Response {
    return new Response(this.#take(this.#content), { headers: this.headers });
  }

  #take<Content>(content: Content): Content {
    if (this.#used) throw new TypeError("The body of this response was read already.");
    this.#used = true;
    return content;
  }

  #notModest(): InvalidResponseError {
    return invalidResponse(this, {
      summary: "The answer has more values than a valid answer of this operation can have.",
      hint: "Ask for less at once, or create another sandbox.",
      code: "RESPONSE_TOO_LARGE",
    });
  }

  #notJson(text: string): InvalidResponseError {
    const type = this.headers.get("content-type") ?? "no content type";
    const form = /\bjson\b/i.test(type) ? "JSON that breaks off or is malformed" : `${type} instead of JSON`;
    return invalidResponse(this, { summary: `The server answered with ${form}, ${text.length} characters.` });
  }
}

/**
 * The data about the call that a response belongs to. A function of this package, not a member of the response: callers
 * of the low-level clients get the response, and this data contains the API key.
 */
export function callFacts(response: LightResponse): CallFacts {
  return factsOf(response);
}

/** The error for an answer of the wrong form. Also reports it to hooks and log. */
export function invalidResponse(
  response: LightResponse,
  {
    summary,
    hint = adviceOnServers,
    code = "INVALID_RESPONSE",
  }: { summary: string; hint?: string; code?: string },
): InvalidResponseError {
  const { headers, status } = response;
  const call = factsOf(response);
  const secrets = call.secrets();
  const requestId = redact(headers.get("x-request-id") ?? call.requestId, secrets);
  const safe = safeHeaders(headers, secrets);
  const error = new InvalidResponseError({ summary, hint, code, requestId, status, headers: safe });
  call.failed(error);
  return error;
}

const adviceOnServers =
  "Check that the base URL is that of a sandbox service and that nothing between rewrites its answers.";

/** Adds a content length, because only with one does openapi-fetch call `json()`, whose errors are typed. */
function withLength(headers: Headers, content: LightContent): Headers {
  if (content === null || content instanceof ReadableStream || headers.get("content-length") !== null) {
    return headers;
  }
  const size = sizeOf(content);
  const all = new Headers([...headers]);
  all.set("content-length", String(size));
  return all;
}

function sizeOf(content: string | ArrayBuffer | Blob): number {
  if (content instanceof Blob) return content.size;
  return content instanceof ArrayBuffer ? content.byteLength : new TextEncoder().encode(content).length;
}
