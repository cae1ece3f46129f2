import type { Socket } from "node:net";
import { fileTunnel } from "@cloud-sandbox/protocol";
import type { Agent, Pool } from "undici";
import type { OutgoingRequest, RequestBody } from "../http/transport.js";

/** A way for one request. */
export interface TunnelWay {
  pool: Pool;
  /** As the agent itself knows it. */
  path: string;
  /** To be called when no answer came. */
  failed(): void;
}

/** Bytes of a file that is worth a connection of its own. */
const worthwhile = 256 * 1024;
const mostServers = 256;
const mostTunnels = 64;
const mostConnections = 32;
/** Milliseconds. */
const longestOpening = 3000;
const pauseAfterFailure = 30_000;

/**
 * Connections with agents that no gateway reads along, for large files: on one machine, the gateway is half of what such a
 * file costs. Whether a server and all that is before it offer them is found out aside, so that no call waits for it. A sandbox
 * that ends breaks its tunnels off without a word: whoever gets no answer asks again on the ordinary way, which knows the
 * reason; to write the same file once more does no harm.
 */
export class FileTunnels {
  readonly #agent: Agent;
  readonly #undici: Undici;
  readonly #closing = new AbortController();
  /** By origin. */
  readonly #servers = new Map<string, Server>();
  /** By the agent's address, the one that was used last at the end. */
  readonly #tunnels = new Map<string, Tunnel>();

  constructor(agent: Agent, undici: Undici) {
    this.#agent = agent;
    this.#undici = undici;
  }

  /** The way of a request; undefined where it takes the ordinary one. */
  way(request: OutgoingRequest): TunnelWay | undefined {
    const { body, headers, origin, path, tunnelAt } = request;
    if (tunnelAt === undefined || body instanceof ReadableStream) return undefined;
    if (sizeOf(body) >= worthwhile) this.#expect(request, tunnelAt);
    const address = origin + tunnelAt;
    const tunnel = this.#tunnels.get(address);
    if (tunnel === undefined || tunnel.isBlocked() || !this.#servers.get(origin)?.offers) return undefined;
    this.#tunnels.delete(address);
    this.#tunnels.set(address, tunnel);
    tunnel.authorization = headers.authorization;
    return { pool: tunnel.pool, path: path.slice(tunnelAt.length), failed: () => tunnel.block() };
  }

  /** Told of a file that came on the ordinary way: where one is large, others are. */
  came(request: OutgoingRequest, bytes: number): void {
    if (request.tunnelAt !== undefined && bytes >= worthwhile) this.#expect(request, request.tunnelAt);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#tunnels.values()].map(({ pool }) => pool.destroy()));
  }

  /** Large files come: they shall find a tunnel. */
  #expect({ headers: { authorization }, origin }: OutgoingRequest, tunnelAt: string): void {
    const address = origin + tunnelAt;
    if (!this.#tunnels.has(address)) {
      const pool = (tunnel: Tunnel): Pool => this.#pool(address, tunnel);
      keep(this.#tunnels, address, new Tunnel(pool), mostTunnels)?.close();
    }
    if (!this.#servers.has(origin)) keep(this.#servers, origin, new Server(), mostServers);
    this.#servers.get(origin)?.findOut(() => this.#open(address, authorization, this.#closing.signal));
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
    const limit = AbortSignal.timeout(longestOpening);
    const { socket } = await this.#undici.upgrade(address + fileTunnel.path, {
      dispatcher: this.#agent,
      protocol: fileTunnel.protocol,
      headers: { authorization },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    // undici's types promise less than what it makes.
    return socket as Socket;
  }
}

type Undici = Pick<typeof import("undici"), "Pool" | "upgrade">;

/** Something that failed, and is left alone for a while. */
class Blockable {
  #until = 0;

  isBlocked(): boolean {
    return performance.now() < this.#until;
  }

  block(): void {
    this.#until = performance.now() + pauseAfterFailure;
  }
}

/** Whether tunnels can be had at an origin. */
class Server extends Blockable {
  offers = false;
  #isAsked = false;

  findOut(open: () => Promise<Socket>): void {
    if (this.offers || this.#isAsked || this.isBlocked()) return;
    this.#isAsked = true;
    const found = (socket: Socket): void => {
      socket.destroy();
      this.offers = true;
    };
    void open()
      .then(found, () => this.block())
      .finally(() => {
        this.#isAsked = false;
      });
  }
}

class Tunnel extends Blockable {
  readonly pool: Pool;
  /** Of the latest request. */
  authorization: string | undefined;

  constructor(pool: (tunnel: Tunnel) => Pool) {
    super();
    this.pool = pool(this);
  }

  close(): void {
    void this.pool.close();
  }
}

/** Keeps so many, and gives the one that has to go. */
function keep<Value>(kept: Map<string, Value>, key: string, value: Value, most: number): Value | undefined {
  const [oldest] = kept;
  const leaving = kept.size >= most ? oldest : undefined;
  if (leaving !== undefined) kept.delete(leaving[0]);
  kept.set(key, value);
  return leaving?.[1];
}

/** Bytes. */
function sizeOf(body: Exclude<RequestBody, ReadableStream> | null): number {
  if (body === null) return 0;
  if (typeof body === "string") return body.length;
  return body instanceof Uint8Array ? body.byteLength : body.size;
}
