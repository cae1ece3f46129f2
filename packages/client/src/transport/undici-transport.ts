import type { Agent, Dispatcher } from "undici";
import { LightHeaders, type RawHeaders } from "./light-headers.js";
import { encodeForm } from "./multipart.js";
import {
  BodyTooLarge,
  type IncomingResponse,
  type OutgoingRequest,
  type RequestBody,
  type Transport,
} from "./transport.js";

/** The fast road of Node: `undici.request` over one pool of keep-alive connections. */
export class UndiciTransport implements Transport {
  #agent: Agent | undefined;
  #opening: Promise<Agent> | undefined;

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    const agent = this.#agent ?? (await this.#open());
    const { method, origin, path, headers, signal } = request;
    const body = request.body === null ? null : carried(request.body, headers);
    const response = await agent.request({
      origin,
      path,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal,
    });
    return new UndiciResponse(response.statusCode, response.headers, response.body);
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  /** Loaded with the first call: importing undici costs more time than importing all of this package. */
  #open(): Promise<Agent> {
    this.#opening ??= import("undici").then(({ Agent }) => {
      // The time limits are the channel's, which knows how long an execution may take.
      this.#agent = new Agent({ connections: 512, headersTimeout: 0, bodyTimeout: 0 });
      return this.#agent;
    });
    return this.#opening;
  }
}

class UndiciResponse implements IncomingResponse {
  readonly headers: LightHeaders;

  constructor(
    readonly status: number,
    private readonly raw: RawHeaders,
    private readonly body: Dispatcher.ResponseData["body"],
  ) {
    this.headers = new LightHeaders(raw);
  }

  async text(limit: number): Promise<string> {
    const declared = this.raw["content-length"];
    const length = typeof declared === "string" ? Number(declared) : Number.NaN;
    if (length <= limit) return this.body.text();
    if (length > limit) throw this.#tooLarge(limit);
    return this.#textOfUnknownLength(limit);
  }

  async #textOfUnknownLength(limit: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for await (const chunk of this.body) {
      bytes += chunk.length;
      if (bytes > limit) throw this.#tooLarge(limit);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  }

  #tooLarge(limit: number): BodyTooLarge {
    this.body.on("error", ignoreOwnDestruction).destroy();
    return new BodyTooLarge(limit);
  }

  stream(): ReadableStream<Uint8Array> | null {
    return this.body.body ?? null;
  }

  discard(): Promise<void> {
    return this.body.dump();
  }
}

/** In a form that undici sends with its length, where it has one. */
function carried(
  body: RequestBody,
  headers: Record<string, string>,
): Exclude<Dispatcher.DispatchOptions["body"], undefined> {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  const content = body instanceof FormData ? encodeForm(body) : body;
  if (content instanceof Blob) {
    headers["content-length"] = String(content.size);
    if (content.type !== "") headers["content-type"] ??= content.type;
  }
  const { Readable } = process.getBuiltinModule("node:stream");
  return Readable.fromWeb(content instanceof Blob ? content.stream() : content);
}

function ignoreOwnDestruction(): void {
  // Destroying a body that is still arriving reports itself as an error of that body.
}
