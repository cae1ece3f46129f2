import { type IncomingMessage, STATUS_CODES } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { agentEnvelope, Problem, requestId, splice } from "@cloud-sandbox/server-kit";
import type { TokenVerifier } from "../access/token-verifier.js";

/** Most connections at a time. Each takes two file descriptors, of which the agent may have only a few hundred. */
const maxConnections = 192;
/** Milliseconds to wait for a connection to a port. A server on the same machine accepts at once or not at all. */
const acceptLimitMs = 5000;
/** Milliseconds that a caller may take to read a refusal. */
const lingerMs = 2000;
/**
 * Addresses on which a server in the sandbox may listen. A server that listens on all addresses is reached at the first.
 */
const loopback = ["127.0.0.1", "::1"];

/**
 * Connects callers with ports inside the sandbox. A caller sends `CONNECT 127.0.0.1:<port>`; after the answer, bytes
 * are forwarded unchanged.
 */
export class PortRelay {
  readonly #clients = new Set<Duplex>();

  constructor(
    private readonly options: {
      readonly tokens: Pick<TokenVerifier, "verify">;
      /** The agent's own ports, which callers cannot connect to. */
      readonly reserved: ReadonlySet<number>;
    },
  ) {}

  async connect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    // The caller disconnected; destroying this side also ends the connection to the port.
    client.on("error", () => client.destroy());
    // Put the bytes back before the first `await`: a stream that has already ended accepts none.
    if (head.length > 0) client.unshift(head);
    try {
      await this.options.tokens.verify(request.headers.authorization);
      const port = this.#port(request.url ?? "");
      this.#admit(client);
      const server = await connectToAny(port);
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      splice(client, server);
    } catch (error) {
      refuse(client, error);
    }
  }

  close(): void {
    for (const client of this.#clients) client.destroy();
  }

  #port(authority: string): number {
    const port = Number(/^(?:127\.0\.0\.1|\[::1\]|localhost):(\d{1,5})$/.exec(authority)?.[1]);
    if (!(port > 0 && port < 65_536)) {
      throw new Problem(
        400,
        "INVALID_REQUEST",
        "CONNECT takes 127.0.0.1:<port>, with a port from 1 to 65535.",
      );
    }
    if (!this.options.reserved.has(port)) return port;
    throw new Problem(403, "PORT_NOT_ALLOWED", `Port ${port} is the agent's own.`, {
      hint: "Let your server listen on another port.",
    });
  }

  #admit(client: Duplex): void {
    if (this.#clients.size >= maxConnections) {
      const message = `At most ${maxConnections} connections to ports of this sandbox may be open.`;
      throw new Problem(429, "RESOURCE_EXHAUSTED", message, {
        hint: "Close some connections to ports of the sandbox first.",
        details: { limit: maxConnections },
      });
    }
    this.#clients.add(client);
    client.once("close", () => this.#clients.delete(client));
  }
}

async function connectToAny(port: number): Promise<Socket> {
  for (const host of loopback) {
    const server = await connectTo(host, port);
    if (server) return server;
  }
  const message = `Nothing listens on port ${port} of the sandbox.`;
  throw new Problem(404, "PORT_NOT_LISTENING", message, {
    hint: "Start a server on the port, or check which port the server uses.",
    details: { port },
  });
}

/** Connects to a port. Undefined if the connection is refused or not accepted within `acceptLimitMs`. */
function connectTo(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    const fail = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once("error", fail).setTimeout(acceptLimitMs, fail);
    socket.once("connect", () => {
      socket.off("error", fail).setTimeout(0);
      resolve(socket);
    });
  });
}

function refuse(client: Duplex, error: unknown): void {
  if (!(error instanceof Problem)) {
    client.destroy();
    return;
  }
  const id = requestId(undefined);
  const body = JSON.stringify(agentEnvelope(error, { requestId: id, timestamp: new Date().toISOString() }));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${id}`,
    ...Object.entries(error.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
  ];
  client.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Read and drop what the caller still sends: closing a connection with unread bytes resets it, and the caller would
  // lose the answer.
  client.resume();
  setTimeout(() => client.destroy(), lingerMs).unref();
}
