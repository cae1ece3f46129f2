import type { Agent, IncomingMessage, request } from "node:http";
import { clientClosed } from "../../errors/errors.js";
import {
  declaredLength,
  type IncomingResponse,
  type OutgoingRequest,
  type Pieces,
  readAll,
  type Transport,
} from "../http/transport.js";
import { LightHeaders } from "../undici/light-headers.js";
import { mayBeProxied } from "../undici/machine-proxies.js";

/**
 * Sends requests with Node.js's own HTTP, for programs that end after a few of them: to load undici takes a tenth of the time of a
 * command that runs one program. What undici is better at, which is to send files and to use proxies, is left to `others`.
 */
export class NodeTransport implements Transport {
  /** By protocol. */
  readonly #connections = new Map<string, Connections>();
  #isClosed = false;

  constructor(private readonly others: Transport) {}

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    const { body, origin } = request;
    const isFile = body !== null && typeof body !== "string";
    if (isFile || mayBeProxied(origin)) return this.others.send(request);
    if (this.#isClosed) throw clientClosed();
    const { protocol } = new URL(origin);
    const connections = this.#connections.get(protocol) ?? connectionsFor(protocol);
    this.#connections.set(protocol, connections);
    return exchanged(connections, request, body);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { agent } of this.#connections.values()) agent.destroy();
    await this.others.close();
  }
}

/** Node.js's HTTP for one protocol, and the connections that it keeps. */
interface Connections {
  readonly request: typeof request;
  readonly agent: Agent;
}

/** Loads the module without an import, because bundlers for other runtimes would fail on it. */
function connectionsFor(protocol: string): Connections {
  const http = process.getBuiltinModule("node:http");
  const { Agent, request } = protocol === "https:" ? process.getBuiltinModule("node:https") : http;
  return { request, agent: new Agent({ keepAlive: true }) };
}

function exchanged(
  { request, agent }: Connections,
  { headers, method, origin, path, scope }: OutgoingRequest,
  body: string | null,
): Promise<NodeResponse> {
  return new Promise((resolve, reject) => {
    if (scope.failure !== undefined) throw scope.failure;
    const sent = request(origin + path, { method, headers, agent });
    const stop = (): void => void sent.destroy(scope.failure);
    scope.addEventListener("abort", stop);
    sent
      .once("response", (message) => resolve(new NodeResponse(message)))
      // Once the answer has begun, its reader gets an error of its own.
      .on("error", reject)
      .once("close", () => scope.removeEventListener("abort", stop))
      .end(body ?? undefined);
  });
}

class NodeResponse implements IncomingResponse {
  readonly status: number;
  readonly headers: LightHeaders;

  constructor(private readonly message: IncomingMessage) {
    this.status = message.statusCode ?? 0;
    this.headers = new LightHeaders(message.headers);
  }

  async bytes(length: number, expectChunk: () => void): Promise<ArrayBuffer> {
    return (await readAll(this.pieces(), length, expectChunk)).arrayBuffer();
  }

  async text(limit: number): Promise<string> {
    // No limit needed for a declared length, which Node.js's parser enforces.
    if (!(declaredLength(this.headers) <= limit)) return (await readAll(this.pieces(), limit)).text();
    let text = "";
    for await (const piece of this.message.setEncoding("utf8")) text += piece;
    return text;
  }

  pieces(): Pieces {
    const pieces = this.message[Symbol.asyncIterator]();
    return { next: () => pieces.next(), leave: () => this.abandon() };
  }

  abandon(): void {
    this.message.on("error", ignore).destroy();
  }
}

function ignore(): void {
  // Nothing to do: ending the answer was intended.
}
