import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import type { NameResolver } from "../../src/addresses/name-servers.js";
import { DestinationPattern } from "../../src/egress/destination-pattern.js";
import { EgressGateway, type OnEgressTelling } from "../../src/egress/egress-gateway.js";
import type { EgressRules } from "../../src/egress/egress-policy.js";
import type { InternetLack } from "../../src/egress/internet-lack.js";
import type { EgressLimits, SandboxEgress } from "../../src/egress/sandbox-egress.js";
import { parseUpstreamProxy } from "../../src/egress/upstream-proxy.js";

export function patterns(...texts: string[]): DestinationPattern[] {
  return texts.map((text) => {
    const pattern = DestinationPattern.parse(text);
    if (!pattern) throw new Error(`${text} is no pattern`);
    return pattern;
  });
}

export interface ProxyOptions {
  readonly allowPrivate?: readonly string[];
  readonly deny?: readonly string[];
  readonly resolve?: NameResolver;
  readonly lack?: InternetLack;
  readonly upstreamProxy?: string;
  readonly limits?: Partial<EgressLimits>;
  readonly rules?: EgressRules;
  readonly authorities?: () => string;
  readonly onTelling?: OnEgressTelling;
}

/** The egress proxy of one sandbox, on a Unix socket. */
export class EgressProxy implements AsyncDisposable {
  readonly #clients = new Set<Socket>();

  private constructor(
    readonly path: string,
    readonly egress: SandboxEgress,
    readonly gateway: EgressGateway,
    private readonly directory: string,
    private readonly server: Server,
  ) {}

  static async start(options: ProxyOptions = {}): Promise<EgressProxy> {
    const directory = await mkdtemp(join(tmpdir(), "egress-test-"));
    const path = join(directory, "egress");
    const operator = {
      allowPrivate: patterns(...(options.allowPrivate ?? [])),
      deny: patterns(...(options.deny ?? [])),
    };
    const { resolve, lack, limits = {} } = options;
    const upstreamProxy =
      options.upstreamProxy === undefined ? undefined : parseUpstreamProxy(options.upstreamProxy);
    const { authorities, onTelling } = options;
    const gateway = new EgressGateway({
      operator,
      limits,
      resolve,
      lack,
      upstreamProxy,
      authorities,
      onTelling,
    });
    const egress = gateway.open("sandbox");
    gateway.setRules("sandbox", options.rules ?? { internetAccess: true });
    const server = createServer({ allowHalfOpen: true }, (socket) => egress.accept(socket)).listen(path);
    await once(server, "listening");
    return new EgressProxy(path, egress, gateway, directory, server);
  }

  async connect(): Promise<Socket> {
    const client = connect({ path: this.path, allowHalfOpen: true });
    this.#clients.add(client);
    client.on("error", () => client.destroy());
    await once(client, "connect");
    return client;
  }

  /** The number of connections whose end the proxy has not seen. */
  async openConnections(): Promise<number> {
    const count = await promisify(this.server.getConnections.bind(this.server))();
    // Node.js does not count a destroyed socket any more, but emits its `close` later. Wait for that.
    await turn();
    await turn();
    return count;
  }

  /** Sends bytes to the proxy. Resolves with everything that it answers before it closes the connection. */
  async say(bytes: string | Buffer): Promise<string> {
    const client = await this.connect();
    client.write(bytes);
    return text(client);
  }

  /** Opens a tunnel to `authority` through the proxy. Throws if the proxy refuses. */
  async tunnel(authority: string): Promise<Socket> {
    const client = await this.connect();
    client.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    const answer = String(await read(client));
    if (!answer.startsWith("HTTP/1.1 200 ")) throw new Error(answer);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gateway.close(this.egress);
    for (const client of this.#clients) client.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** The next bytes of a connection. Empty when it has ended. */
export async function read(socket: Socket): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read() as Buffer | null;
    if (bytes !== null) return bytes;
    if (socket.readableEnded || socket.destroyed) return Buffer.alloc(0);
    await new Promise<void>((resolve) => {
      for (const event of ["readable", "end", "close"] as const) socket.once(event, () => resolve());
    });
  }
}

/** All remaining text of a connection. */
export async function text(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for (;;) {
    const bytes = await read(socket);
    if (bytes.length === 0) return Buffer.concat(chunks).toString("latin1");
    chunks.push(bytes);
  }
}

/** A TCP server on loopback. It calls `handle` with each connection. */
export async function tcpServer(
  handle: (socket: Socket) => void,
  host = "127.0.0.1",
  port = 0,
): Promise<AsyncDisposable & { readonly port: number; readonly connections: ReadonlySet<Socket> }> {
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => connections.delete(socket));
    handle(socket);
  }).listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends back what it receives. */
export const echo = (socket: Socket): void => {
  socket.pipe(socket);
};

/** The bytes that a client sends to a SOCKS5 proxy to request a connection. */
export const socks = (host: string | readonly number[], port: number, command = 1): Buffer => {
  const address =
    typeof host === "string"
      ? [3, host.length, ...Buffer.from(host, "latin1")]
      : [host.length === 4 ? 1 : 4, ...host];
  return Buffer.from([5, 1, 0, 5, command, 0, ...address, port >> 8, port & 255]);
};

/** Sends nothing, and closes the connection when the client does. */
export const silent = (socket: Socket): void => {
  socket.resume().once("end", () => socket.end());
};
