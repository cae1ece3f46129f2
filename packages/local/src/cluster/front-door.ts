import { createServer, type Server as HttpServer } from "node:http";
import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { envelopeAt } from "../agents/agent-target.js";
import { listen } from "../gateway/listening.js";
import { refuse } from "../gateway/refusal.js";
import { joinSockets } from "../relay/joined-sockets.js";

/** Milliseconds that a connection waits for a server that leads: longer than it takes until another one leads. */
const patienceMs = 20_000;
const lookMs = 100;
const connectLimitMs = 2000;
const cutMs = 1000;

/**
 * Listens where callers connect. This server answers them while it leads; otherwise it joins their connections with the server
 * that leads. While none does, they wait. When another one leads, connections with the last one are cut: if its machine was lost,
 * nobody else would close them.
 */
export class FrontDoor {
  readonly #server: Server;
  readonly #waitingRoom = waitingRoom();
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  /** The connections with a server that leads, each with its address. */
  readonly #joined = new Map<Socket, string>();
  #timer: NodeJS.Timeout | undefined;
  /** This server's own, while it leads. */
  #own: HttpServer | undefined;

  constructor(
    /** Where the server that leads answers, as host and port. Undefined if there is none. */
    private readonly leader: () => string | undefined,
    private readonly patience = patienceMs,
  ) {
    this.#server = createTcpServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket.on("error", () => undefined));
      socket.once("close", () => this.#sockets.delete(socket));
      void this.#admit(socket);
    });
  }

  /** Listens. Resolves with the base URL for callers on this machine. */
  open(host: string, port: number): Promise<string> {
    this.#timer = setInterval(() => this.#cut(), cutMs).unref();
    return listen(this.#server, host, port);
  }

  /** Does not keep this process running. */
  unref(): void {
    this.#server.unref().on("connection", (socket: Socket) => socket.unref());
  }

  /** Lets this server answer. */
  lead(own: HttpServer): void {
    this.#own = own;
    this.#cut();
  }

  /** Lets the next server answer that leads. */
  follow(): void {
    this.#own = undefined;
  }

  /** Takes no more connections. */
  stop(): void {
    this.#server.close();
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#server.close();
    for (const socket of [...this.#sockets, ...this.#joined.keys()]) socket.destroy();
  }

  /** Cuts the connections with servers that do not lead any more. */
  #cut(): void {
    const leader = this.leader();
    for (const [other, address] of this.#joined)
      if (this.#own || (leader !== undefined && address !== leader)) other.destroy();
  }

  async #admit(socket: Socket): Promise<void> {
    const until = performance.now() + this.patience;
    while (!this.#closing.signal.aborted && !socket.destroyed) {
      if (this.#own) return handOver(socket, this.#own);
      const address = this.leader();
      const other = address === undefined ? undefined : await connected(address);
      if (address !== undefined && other) return this.#join(socket, other, address);
      if (performance.now() > until) return handOver(socket, this.#waitingRoom);
      await sleep(lookMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
    }
    socket.destroy();
  }

  #join(socket: Socket, other: Socket, address: string): void {
    this.#joined.set(
      other.on("error", () => undefined),
      address,
    );
    other.once("close", () => this.#joined.delete(other));
    if (socket.destroyed) other.destroy();
    else joinSockets(socket, other);
  }
}

function handOver(socket: Socket, server: HttpServer): void {
  server.emit("connection", socket);
  socket.resume();
}

/** A connection to the server at an address. Undefined if it does not answer. */
async function connected(address: string): Promise<Socket | undefined> {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  const socket = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
  return new Promise((resolve) => {
    const giveUp = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, connectLimitMs);
    socket.once("error", giveUp).once("connect", () => {
      clearTimeout(timer);
      resolve(socket.off("error", giveUp));
    });
    socket.once("close", () => clearTimeout(timer));
  });
}

/** Answers those who have waited in vain. */
function waitingRoom(): HttpServer {
  const message =
    "No server leads now: the API server of the cluster does not answer, or one is about to lead.";
  const problem = new Problem(503, "SERVICE_UNAVAILABLE", message, {
    hint: "Call again in some seconds.",
    headers: { "retry-after": "2", connection: "close" },
  });
  return createServer((request, response) =>
    refuse(request, response, problem, { envelope: envelopeAt(request.url ?? "") }),
  );
}
