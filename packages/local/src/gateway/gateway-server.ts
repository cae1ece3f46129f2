import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { answerUnreadableRequests } from "@cloud-sandbox/server-kit";
import { envelopeAt } from "../agents/agent-target.js";
import { InvalidPublicUrlError, PortUnavailableError } from "../errors/local-errors.js";
import { relayBufferBytes } from "../relay/merging-relay.js";

export interface ServerTimeouts {
  /** Milliseconds in which a request's head must arrive, counted from the connection. */
  readonly headMs: number;
  /** Milliseconds in which the rest of a request's body must arrive, once the request has been answered. */
  readonly bodyRestMs: number;
}

/** Listeners of one event that a connection or an answer may have. */
const mostListeners = 20;

const defaultTimeouts: ServerTimeouts = { headMs: 15_000, bodyRestMs: 5000 };

/**
 * The HTTP server for control plane, agents and previews. A client without credentials cannot hold a connection for long:
 * the head has a time limit, and the request is refused before its body arrives. Accepted bodies have no time limit.
 */
export function createGatewayServer(timeouts = defaultTimeouts): Server {
  const server = createServer({
    highWaterMark: relayBufferBytes,
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    headersTimeout: timeouts.headMs,
    connectionsCheckingInterval: timeouts.headMs / 5,
  });
  answerUnreadableRequests(server, envelopeAt);
  // Each part that counts, limits or follows open connections listens for the end of one, and Node.js warns of more than ten.
  server.on("upgrade", (_, connection) => connection.setMaxListeners(mostListeners));
  server.on("request", (request, response) => {
    response.setMaxListeners(mostListeners);
    response.once("finish", () => {
      if (request.complete) return;
      // Read and drop the rest of the body: its receiver may have stopped reading, and the next request follows the body.
      request.unpipe().resume();
      const timer = setTimeout(() => request.socket.destroy(), timeouts.bodyRestMs).unref();
      request.once("close", () => clearTimeout(timer));
    });
  });
  return server;
}

/**
 * Throws if the port is in use; never for 0, which is any free port. Listens on it for a moment to find out. If another process takes the port before the server
 * listens, the start of the server reports that.
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createTcpServer();
  await listen(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

/** Listens on the port, or on any free one if it is 0. Returns the base URL for callers on this machine. */
export async function listen(server: TcpServer, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new PortUnavailableError(host, port, error)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const actualPort = typeof address === "object" && address ? address.port : port;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${actualPort}`;
}

/** The address under which a proxy in front of this server is reached. */
export class PublicAddress {
  readonly #url: URL;

  /** @throws InvalidPublicUrlError when the text is not a URL of a server. */
  constructor(text: string) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isServer = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!isServer) throw new InvalidPublicUrlError(text);
    this.#url = url;
  }

  /** The URL, without a slash at the end. */
  get url(): string {
    return this.#url.origin;
  }

  get hostname(): string {
    return this.#url.hostname;
  }

  /** Whether a caller with this `Host` header used the public address. */
  isFor(host: string | undefined): boolean {
    return host?.toLowerCase() === this.#url.host;
  }
}
