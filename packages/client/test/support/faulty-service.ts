import { createHash } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { ServedSocket } from "./frame-server.js";
import { finished, wireSandbox } from "./sandbox-service.js";

/** A request as it was received, and the connection on which the test answers it, rightly or wrongly. */
export class Exchange {
  constructor(
    readonly connection: Socket,
    readonly method: string,
    readonly path: string,
    readonly headers: Readonly<Record<string, string>>,
    /** The number of this request on its connection, from 1. */
    readonly serial: number,
    /** The number of this request among those for the same operation, from 1. */
    readonly count: number,
  ) {}

  get operation(): string {
    return `${this.method} ${this.path.split("?", 1)}`;
  }

  /** Writes bytes to the connection unchanged. */
  write(text: string | Uint8Array): void {
    if (this.connection.writable) this.connection.write(text);
  }

  /** Sends an answer with a Content-Length. */
  answer(status: number, body: string | object, headers: Record<string, string> = {}): void {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "text/html" : "application/json";
    const all = { "content-type": type, "content-length": String(Buffer.byteLength(text)), ...headers };
    this.write(head(status, all) + text);
  }

  /** Sends an answer with its body in one chunk. */
  chunked(body: string, headers: Record<string, string> = {}): void {
    this.write(head(200, { "transfer-encoding": "chunked", "content-type": "application/json", ...headers }));
    this.write(`${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  }

  /** Resets the connection. */
  reset(): void {
    this.connection.resetAndDestroy();
  }

  /** Calls `call` at an interval until the connection is closed. */
  every(milliseconds: number, call: () => void): void {
    const timer = setInterval(call, milliseconds);
    this.connection.on("close", () => clearInterval(timer));
  }

  /** Accepts the handshake of a WebSocket. */
  upgrade(onFrame: (frame: Record<string, unknown>, socket: ServedSocket) => void): ServedSocket {
    const key = `${this.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    this.write(head(101, { upgrade: "websocket", connection: "Upgrade", "sec-websocket-accept": accept }));
    this.connection.removeAllListeners("data");
    return new ServedSocket(this.connection, onFrame);
  }
}

export function head(status: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

export interface FaultyServiceOptions {
  /** The operation to which the service answers wrongly until `mend()`. `connection` means every new connection. */
  at: string;
  misbehave(exchange: Exchange): void;
  /** Key and certificate of a service that speaks TLS. */
  tls?: { key: string; cert: string } | undefined;
}

/**
 * A control plane with one sandbox, `abc`, and its agent below /agent, over raw sockets. One operation goes wrong until
 * `mend()`, all others work. The service closes no connection that a fault leaves open, so that tests see whether the
 * client does.
 */
export class FaultyService {
  readonly #options: FaultyServiceOptions;
  readonly #server: Server;
  readonly #counts = new Map<string, number>();
  readonly #connections = new Set<Socket>();
  /** The id of the request that went wrong last. */
  requestId: string | undefined;
  #isMended = false;

  static async start(options: FaultyServiceOptions): Promise<FaultyService> {
    const service = new FaultyService(options);
    await new Promise<void>((resolve) => service.#server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  private constructor(options: FaultyServiceOptions) {
    this.#options = options;
    const { tls } = options;
    const serve = (connection: Socket): void => this.#serve(connection);
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
    // Ignore handshakes that fail: some tests make them fail on purpose.
    this.#server.on("tlsClientError", () => undefined);
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The server does not listen");
    return address.port;
  }

  get url(): string {
    return `${this.#options.tls === undefined ? "http" : "https"}://127.0.0.1:${this.port}`;
  }

  /** How often the operation that goes wrong was requested. */
  get tries(): number {
    return this.#counts.get(this.#options.at) ?? 0;
  }

  get openConnections(): number {
    return this.#connections.size;
  }

  mend(): void {
    this.#isMended = true;
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(connection: Socket): void {
    this.#connections.add(connection);
    connection.on("close", () => this.#connections.delete(connection));
    // Ignore errors of connections: tests break them on purpose.
    connection.on("error", () => undefined);
    if (this.#goesWrong("connection")) {
      this.#options.misbehave(new Exchange(connection, "", "", {}, 1, this.tries));
      connection.resume();
      return;
    }
    let pending = Buffer.alloc(0);
    let serial = 0;
    let toSkip = 0;
    connection.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const skipped = Math.min(toSkip, pending.length);
        toSkip -= skipped;
        pending = pending.subarray(skipped);
        const end = pending.indexOf("\r\n\r\n");
        if (toSkip > 0 || end === -1) return;
        const [first = "", ...lines] = pending.subarray(0, end).toString().split("\r\n");
        pending = pending.subarray(end + 4);
        const headers = Object.fromEntries(
          lines.map((line) => [
            line.slice(0, line.indexOf(":")).toLowerCase(),
            line.slice(line.indexOf(":") + 1).trim(),
          ]),
        );
        toSkip = Number(headers["content-length"] ?? 0);
        const [method = "", path = ""] = first.split(" ");
        this.#respond(connection, method, path, headers, ++serial);
      }
    });
  }

  #goesWrong(operation: string): boolean {
    if (operation !== this.#options.at) return false;
    this.#counts.set(operation, (this.#counts.get(operation) ?? 0) + 1);
    return !this.#isMended;
  }

  #respond(
    connection: Socket,
    method: string,
    path: string,
    headers: Record<string, string>,
    serial: number,
  ): void {
    const exchange = new Exchange(connection, method, path, headers, serial, this.tries + 1);
    if (this.#goesWrong(exchange.operation)) {
      this.requestId = headers["x-request-id"];
      this.#options.misbehave(exchange);
    } else {
      this.#work(exchange);
    }
  }

  #work(exchange: Exchange): void {
    const { headers, operation } = exchange;
    if (headers.upgrade === "websocket") {
      exchange.upgrade((_, socket) =>
        socket.send(
          { type: "result", exit_code: 0, execution_time: 0.1 },
          { type: "complete", success: true },
        ),
      );
    } else if (operation === "POST /v1/sandboxes/abc/token/refresh") {
      exchange.answer(200, { auth_token: `fresh-token-${Math.random()}` });
    } else if (operation.startsWith("GET /v1/sandboxes/")) {
      exchange.answer(200, wireSandbox(`${this.url}/agent`));
    } else if (operation === "POST /agent/execute/rich") {
      exchange.answer(200, finished());
    } else if (operation === "GET /agent/files/download") {
      exchange.answer(200, "content", { "content-type": "application/octet-stream" });
    } else {
      exchange.answer(200, { path: "/tmp/file", size: 1, exists: true });
    }
  }
}
