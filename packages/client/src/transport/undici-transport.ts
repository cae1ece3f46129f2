import type { Agent, Dispatcher } from "undici";
import { clientClosed } from "../errors.js";
import { LightHeaders, type RawHeaders } from "./light-headers.js";
import { encodeForm } from "./multipart.js";
import {
  collect,
  declaredLength,
  type IncomingResponse,
  type OutgoingRequest,
  type RequestBody,
  readAll,
  smallBody,
  type Transport,
} from "./transport.js";

/** The fast road of Node: `undici.request` over one pool of keep-alive connections. */
export class UndiciTransport implements Transport {
  #agent: Agent | undefined;
  #opening: Promise<Agent> | undefined;
  #closing: Promise<void> | undefined;

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    if (this.#closing !== undefined) throw clientClosed();
    const agent = this.#agent ?? (await this.#open());
    const { method, origin, path, headers, scope } = request;
    const body = request.body === null ? null : await carried(request.body, headers, request.onSent);
    const response = await agent.request({
      origin,
      path,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal: scope,
    });
    return new UndiciResponse(response.statusCode, response.headers, response.body);
  }

  close(): Promise<void> {
    this.#closing ??= (this.#opening ?? Promise.resolve(undefined)).then((agent) => agent?.close());
    return this.#closing;
  }

  /** Loaded with the first call: importing undici costs more time than importing all of this package. */
  #open(): Promise<Agent> {
    this.#opening ??= import("undici").then(({ Agent }) => {
      // The time limits are the channel's, which knows how long an execution may take.
      this.#agent = new Agent({ connections: mostConnections, headersTimeout: 0, bodyTimeout: 0 });
      return this.#agent;
    });
    return this.#opening;
  }
}

/** To one server at a time; more calls wait. Half of the files that a process may usually have open. */
const mostConnections = 512;

class UndiciResponse implements IncomingResponse {
  readonly headers: LightHeaders;
  readonly #body: Dispatcher.ResponseData["body"];

  constructor(
    readonly status: number,
    headers: RawHeaders,
    body: Dispatcher.ResponseData["body"],
  ) {
    this.headers = new LightHeaders(headers);
    this.#body = body;
  }

  bytes(length: number, expectChunk: () => void): Promise<ArrayBuffer> {
    return collect(this.#body, length, expectChunk);
  }

  async text(limit: number): Promise<string> {
    // The parser holds a body to the length it declares.
    if (declaredLength(this.headers) <= limit) return this.#body.text();
    return (await readAll(this.stream(), limit)).text();
  }

  stream(): ReadableStream<Uint8Array> {
    return nodeStreams().Readable.toWeb(this.#body);
  }

  abandon(): void {
    this.#body.on("error", ignore).destroy();
  }
}

/** In a form that undici sends with its length, where it has one. */
async function carried(
  body: RequestBody,
  headers: Record<string, string>,
  onSent: OutgoingRequest["onSent"],
): Promise<Exclude<Dispatcher.DispatchOptions["body"], undefined>> {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  const content = body instanceof FormData ? encodeForm(body) : body;
  if (content instanceof Blob) {
    headers["content-length"] = String(content.size);
    if (content.type !== "") headers["content-type"] ??= content.type;
    if (content.size <= smallBody) {
      onSent?.(content.size);
      return new Uint8Array(await content.arrayBuffer());
    }
  }
  const stream = content instanceof Blob ? content.stream() : content;
  return nodeStreams().Readable.fromWeb(onSent === undefined ? stream : counted(stream, onSent));
}

function counted(stream: ReadableStream<Uint8Array>, onSent: (bytes: number) => void): typeof stream {
  let sent = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sent += chunk.length;
      onSent(sent);
      controller.enqueue(chunk);
    },
  });
  return stream.pipeThrough(counter);
}

/** Without an import, which a bundler for other runtimes would stumble over. */
function nodeStreams() {
  return process.getBuiltinModule("node:stream");
}

function ignore(): void {
  // That the body breaks off is what was wanted.
}
