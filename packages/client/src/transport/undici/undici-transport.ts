import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { clientClosed } from "../../errors/errors.js";
import type { CallScope } from "../calls/calls.js";
import { type Content, MultipartForm } from "../http/multipart.js";
import {
  type AnswerHeaders,
  declaredLength,
  type IncomingResponse,
  type OutgoingRequest,
  type Pieces,
  type RequestBody,
  readAhead,
  readAll,
  smallBody,
  type Transport,
} from "../http/transport.js";
import { Connecting } from "./connecting.js";
import { agentThroughProxies } from "./machine-proxies.js";

/** The fast transport for Node.js: `undici.request` over one pool of keep-alive connections. */
export class UndiciTransport implements Transport {
  #opened: Opened | undefined;
  #opening: Promise<Opened> | undefined;
  #closing: Promise<void> | undefined;

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    if (this.#closing !== undefined) throw clientClosed();
    const { agent } = this.#opened ?? (await this.#open());
    return exchanged(agent, request);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const opened = await this.#opening;
    const destroyed = opened?.agent.destroy();
    opened?.connecting.destroy();
    await destroyed;
  }

  /** Loads undici with the first call: importing it takes longer than importing this whole package. */
  #open(): Promise<Opened> {
    this.#opening ??= loadUndici().then((undici) => {
      const connecting = new Connecting(undici.buildConnector);
      const agent = agentThroughProxies(undici, {
        connect: connecting.connect,
        connections: mostConnections,
        // Disable undici's time limits: the channel sets its own, because it knows how long an execution may take.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.#opened = { agent, connecting };
      return this.#opened;
    });
    return this.#opening;
  }
}

interface Opened {
  agent: Dispatcher;
  connecting: Connecting;
}

async function exchanged(
  agent: Dispatcher,
  { body, headers, method, onSent, origin, path, scope }: OutgoingRequest,
): Promise<UndiciResponse> {
  const pending = agent.request({
    origin,
    path,
    method: method as Dispatcher.HttpMethod,
    headers,
    body: body === null ? null : undiciBody(body, headers, onSent),
    signal: scope,
  });
  const response = await unlessStopped(pending, scope);
  return new UndiciResponse(response.statusCode, answerHeaders(response.headers), response.body);
}

/** Rejects when the scope is stopped. Needed because undici notices a signal only once it has a connection. */
function unlessStopped<Value>(pending: Promise<Value>, scope: CallScope): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(scope.reason);
    scope.addEventListener("abort", stop);
    const leave = (): void => scope.removeEventListener("abort", stop);
    pending.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}

/** The most connections to one server; further calls wait. Half of the usual limit of open files per process. */
const mostConnections = 512;

class UndiciResponse implements IncomingResponse {
  readonly #body: Dispatcher.ResponseData["body"];

  constructor(
    readonly status: number,
    readonly headers: AnswerHeaders,
    body: Dispatcher.ResponseData["body"],
  ) {
    this.#body = body;
  }

  bytes(length: number, expectChunk: () => void): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    let at = 0;
    // Use events: iterating costs a quarter more.
    return new Promise((resolve, reject) => {
      this.#body.on("data", (piece: Uint8Array) => {
        // No check needed: undici's parser enforces the declared length.
        bytes.set(piece, at);
        at += piece.length;
        expectChunk();
      });
      this.#body.once("end", () => resolve(bytes.buffer)).once("error", reject);
      expectChunk();
    });
  }

  async text(limit: number): Promise<string> {
    // No limit needed: undici's parser enforces the declared length.
    if (declaredLength(this.headers) <= limit) return this.#body.text();
    return (await readAll(this.pieces(), limit)).text();
  }

  pieces(): Pieces {
    // Not `Readable.toWeb()`: in Node.js 20 it throws an uncatchable error if a stream is cancelled while a piece
    // arrives.
    const pieces = this.#body[Symbol.asyncIterator]();
    return { next: () => pieces.next(), leave: () => this.abandon() };
  }

  abandon(): void {
    this.#body.on("error", ignore).destroy();
  }
}

/** The body in a form that undici sends with its content length, if it has one. */
function undiciBody(
  body: RequestBody,
  headers: Record<string, string>,
  onSent: OutgoingRequest["onSent"],
): string | Readable {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) {
    headers["content-length"] = String(body.byteLength);
    // Wrap the bytes in a list: undici would consider plain bytes sent at once, and reuse the connection if an early
    // answer came. Cast needed: undici's types do not allow iterables.
    return [body] as Iterable<Uint8Array> as unknown as Readable;
  }
  if (!(body instanceof ReadableStream)) headers["content-length"] = String(body.size);
  const contents = body instanceof MultipartForm ? body.parts : [body];
  return nodeStreams().Readable.from(pieces(contents, onSent), {
    objectMode: false,
    highWaterMark: readAhead,
  });
}

async function* pieces(
  contents: ReadonlyArray<Content | ReadableStream<Uint8Array>>,
  onSent: OutgoingRequest["onSent"],
): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for (const content of contents) {
    for await (const piece of await readable(content)) {
      yield piece;
      sent += piece.length;
      onSent?.(sent);
    }
  }
}

async function readable(
  content: Content | ReadableStream<Uint8Array>,
): Promise<Iterable<Uint8Array> | AsyncIterable<Uint8Array>> {
  if (content instanceof Uint8Array) return [content];
  if (content instanceof ReadableStream) return content;
  if (content.size <= smallBody) return [new Uint8Array(await content.arrayBuffer())];
  // The Blob of a local file has its own iterator, which reads the file directly.
  return isAsyncIterable(content) ? content : content.stream();
}

function isAsyncIterable(content: object): content is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in content;
}

/** Loads Node.js streams without an import, because bundlers for other runtimes would fail on it. */
function nodeStreams() {
  return process.getBuiltinModule("node:stream");
}

function ignore(): void {
  // Nothing to do: ending the body was intended.
}

/** The headers of an answer in the form in which this client reads them. undici has a list for one that came several times. */
export function answerHeaders(raw: Record<string, string | string[] | undefined>): AnswerHeaders {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ");
  }
  return headers;
}

type Undici = typeof import("undici");

/** Loads undici. It is CommonJS: in bundles, only the default export of such a module has its members. */
export async function loadUndici(): Promise<Undici> {
  const { default: members } = await import("undici");
  // Cast needed: the types of the default export leave some members out.
  return members as unknown as Undici;
}
