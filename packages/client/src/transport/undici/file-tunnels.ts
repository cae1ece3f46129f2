import type { Socket } from "node:net";
import { fileTunnel, timeLimit } from "@cloud-sandbox/protocol";
import type { Dispatcher, Pool } from "undici";
import type { OutgoingRequest, RequestBody } from "../http/transport.js";

/** How to send one request through a tunnel. */
export interface TunnelWay {
  pool: Pool;
  /** The path as the agent itself knows it, without the gateway's prefix. */
  path: string;
  /** Reports that no answer came through the tunnel, so that the tunnel is not used again for a while. */
  failed(): void;
}

/** Size in bytes from which a file goes through a tunnel. */
const worthwhile = 256 * 1024;
/** Size in bytes from which a transfer waits until it is known whether the server offers tunnels. */
const worthWaiting = 32 * 1024 * 1024;
const mostServers = 256;
const mostTunnels = 64;
const mostConnections = 32;
/** Times in milliseconds: to open a tunnel, and to avoid a tunnel or server after a failure. */
const longestOpening = 3000;
const pauseAfterFailure = 30_000;

/**
 * Direct connections to agents for large files, which bypass the gateway: on one machine, the gateway is half the cost of
 * such a transfer. Whether a server offers them is found out in the background; only transfers of 32 MiB and more wait for
 * it. When a sandbox ends, its tunnels break without an error message; the request is then repeated through the gateway,
 * which reports the reason. Repeating is harmless, because writing a file twice has the same effect.
 */
export class FileTunnels {
  readonly #agent: Dispatcher;
  readonly #undici: Undici;
  readonly #closing = new AbortController();
  /** The servers, by their origin. */
  readonly #servers = new Map<string, Server>();
  /** The tunnels, by the agent's address. Ordered by last use, the latest at the end. */
  readonly #tunnels = new Map<string, Tunnel>();

  constructor(agent: Dispatcher, undici: Undici) {
    this.#agent = agent;
    this.#undici = undici;
  }

  /** The tunnel for a request; undefined if it must go through the gateway. */
  async way(request: OutgoingRequest): Promise<TunnelWay | undefined> {
    const { body, tunnelAt } = request;
    if (tunnelAt === undefined || body instanceof ReadableStream) return undefined;
    await this.#expect(request, tunnelAt, sizeOf(body));
    return this.#openTo(request, tunnelAt);
  }

  /**
   * Called when a file of `bytes` begins to come through the gateway. If it is large, prepares a tunnel for the next ones.
   * Returns the tunnel if one is worth starting this download again.
   */
  async came(request: OutgoingRequest, bytes: number): Promise<TunnelWay | undefined> {
    const { body, tunnelAt } = request;
    if (tunnelAt === undefined) return undefined;
    await this.#expect(request, tunnelAt, bytes);
    return body === null && bytes >= worthWaiting ? this.#openTo(request, tunnelAt) : undefined;
  }

  #openTo({ headers, origin, path }: OutgoingRequest, tunnelAt: string): TunnelWay | undefined {
    const address = origin + tunnelAt;
    const tunnel = this.#tunnels.get(address);
    if (tunnel === undefined || tunnel.isBlocked() || !this.#servers.get(origin)?.offers) return undefined;
    this.#tunnels.delete(address);
    this.#tunnels.set(address, tunnel);
    tunnel.authorization = headers.authorization;
    return { pool: tunnel.pool, path: path.slice(tunnelAt.length), failed: () => tunnel.block() };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#tunnels.values()].map(({ pool }) => pool.destroy()));
  }

  /** Prepares a tunnel if a file is large, and waits for it if the file is very large. */
  #expect(
    { headers: { authorization }, origin }: OutgoingRequest,
    tunnelAt: string,
    bytes: number,
  ): Promise<void> | undefined {
    if (!(bytes >= worthwhile)) return undefined;
    const address = origin + tunnelAt;
    if (!this.#tunnels.has(address)) {
      const pool = (tunnel: Tunnel): Pool => this.#pool(address, tunnel);
      keep(this.#tunnels, address, new Tunnel(pool), mostTunnels)?.close();
    }
    if (!this.#servers.has(origin)) keep(this.#servers, origin, new Server(), mostServers);
    const found = this.#servers
      .get(origin)
      ?.findOut(() => this.#open(address, authorization, this.#closing.signal));
    return bytes >= worthWaiting ? found : undefined;
  }

  #pool(address: string, tunnel: Tunnel): Pool {
    return new this.#undici.Pool(new URL(address).origin, {
      connections: mostConnections,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, done) => {
        this.#open(address, tunnel.authorization).then(
          (socket) => done(null, socket),
          (cause: unknown) => {
            tunnel.block();
            done(new Error("The tunnel was not opened", { cause }), null);
          },
        );
      },
    });
  }

  async #open(address: string, authorization: string | undefined, signal?: AbortSignal): Promise<Socket> {
    const { socket } = await this.#undici.upgrade(address + fileTunnel.path, {
      dispatcher: this.#agent,
      protocol: fileTunnel.protocol,
      headers: { authorization },
      signal: signal === undefined ? AbortSignal.timeout(longestOpening) : timeLimit(longestOpening, signal),
    });
    // Cast needed: `upgrade` returns a socket, which undici's types do not say.
    return socket as Socket;
  }
}

type Undici = Pick<typeof import("undici"), "Pool" | "upgrade">;

/** Something that failed and is not used again for a while. */
class Blockable {
  #until = 0;

  isBlocked(): boolean {
    return performance.now() < this.#until;
  }

  block(): void {
    this.#until = performance.now() + pauseAfterFailure;
  }
}

/** Whether the server at an origin offers tunnels. */
class Server extends Blockable {
  offers = false;
  #asking: Promise<void> | undefined;

  /** Asks the server, unless that is known. Resolves also if the server refuses. */
  findOut(open: () => Promise<Socket>): Promise<void> | undefined {
    if (this.offers || this.isBlocked()) return undefined;
    const found = (socket: Socket): void => {
      socket.destroy();
      this.offers = true;
    };
    this.#asking ??= open()
      .then(found, () => this.block())
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}

class Tunnel extends Blockable {
  readonly pool: Pool;
  /** The Authorization header of the latest request. */
  authorization: string | undefined;

  constructor(pool: (tunnel: Tunnel) => Pool) {
    super();
    this.pool = pool(this);
  }

  close(): void {
    void this.pool.close();
  }
}

/** Adds an entry and returns the evicted one, if the map is full. */
function keep<Value>(kept: Map<string, Value>, key: string, value: Value, most: number): Value | undefined {
  const [oldest] = kept;
  const leaving = kept.size >= most ? oldest : undefined;
  if (leaving !== undefined) kept.delete(leaving[0]);
  kept.set(key, value);
  return leaving?.[1];
}

/** Size in bytes; of a text, in characters. */
function sizeOf(body: Exclude<RequestBody, ReadableStream> | null): number {
  if (body === null) return 0;
  if (typeof body === "string") return body.length;
  return body instanceof Uint8Array ? body.byteLength : body.size;
}
