import type { Socket } from "node:net";
import type { Destination } from "./destination.js";
import type { Dialer } from "./dialer.js";
import { EgressLog, type EgressProtocol } from "./egress-log.js";
import type { EgressPolicy } from "./egress-policy.js";
import { EgressProblem } from "./egress-problem.js";
import type { HttpProxy } from "./http-proxy.js";
import { readableOrOver } from "./socks-messages.js";
import { serveSocks } from "./socks-proxy.js";
import type { WayOut } from "./way-out.js";

export interface EgressLimits {
  /** Connections of one sandbox at a time, and of those made for it; what comes beyond is closed unread, or refused. */
  readonly connections: number;
  /** Milliseconds in which a program must have said where it wants to go. */
  readonly greetingMs: number;
  /** Milliseconds without a byte in either direction, after which a connection is closed. */
  readonly idleMs: number;
}

const socksVersion = 5;

/** The way out of one sandbox: all that comes through its socket, HTTP and SOCKS5 alike. */
export class SandboxEgress implements WayOut {
  readonly log = new EgressLog();
  readonly #connections = new Set<Socket>();
  /** Made for it, or being made. One connection of a program can ask for any number, without waiting for answers. */
  #upstreams = 0;
  #isClosed = false;

  constructor(
    public policy: EgressPolicy,
    private readonly dialer: Dialer,
    private readonly http: HttpProxy,
    private readonly limits: EgressLimits,
  ) {}

  /** Takes a connection that was made inside the sandbox. */
  accept(client: Socket): void {
    if (this.#isClosed || this.#connections.size >= this.limits.connections) {
      this.log.noteDropped();
      client.destroy();
      return;
    }
    this.#connections.add(client);
    client.once("close", () => this.#connections.delete(client));
    client.on("error", () => client.destroy());
    client.on("timeout", () => client.destroy());
    client.setTimeout(this.limits.greetingMs);
    void this.#serve(client);
  }

  async connect(protocol: EgressProtocol, destination: Destination, signal: AbortSignal): Promise<Socket> {
    const attempt = this.log.begin(protocol, destination);
    this.#upstreams += 1;
    try {
      if (this.#upstreams > this.limits.connections) throw tooMany(this.limits.connections);
      const { socket, address } = await this.dialer.dial(destination, this.policy, signal);
      attempt.allow(socket, address);
      socket.once("close", () => {
        this.#upstreams -= 1;
      });
      if (signal.aborted || this.#isClosed) socket.destroy();
      socket.on("timeout", () => socket.destroy());
      this.watchIdle(socket);
      // Its other end lets this process end too.
      return socket.unref();
    } catch (error) {
      this.#upstreams -= 1;
      const isRefused = error instanceof EgressProblem && error.kind === "refused";
      const reason = error instanceof EgressProblem ? error.message : "The program went away.";
      attempt.end(isRefused ? "refused" : "failed", reason);
      throw error;
    }
  }

  watchIdle(socket: Socket): void {
    socket.setTimeout(this.limits.idleMs);
  }

  /** Closes all connections, and whatever comes after. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.destroy();
  }

  async #serve(client: Socket): Promise<void> {
    const first = await firstByte(client);
    if (first === undefined) {
      client.destroy();
    } else if (first === socksVersion) {
      const gone = new AbortController();
      client.once("close", () => gone.abort());
      await serveSocks(client, this, gone.signal);
    } else {
      this.http.serve(client, this);
    }
  }
}

const tooMany = (limit: number): EgressProblem =>
  new EgressProblem(
    "exhausted",
    `This sandbox has ${limit} connections open, the most at a time. Close some.`,
  );

/** What a connection begins with, left in place; undefined when it ends before. */
async function firstByte(client: Socket): Promise<number | undefined> {
  for (;;) {
    const bytes = client.read() as Buffer | null;
    if (bytes !== null) {
      client.unshift(bytes);
      return bytes[0];
    }
    if (client.readableEnded || client.destroyed) return undefined;
    await readableOrOver(client);
  }
}
