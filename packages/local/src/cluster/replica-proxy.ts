import type { Server } from "node:http";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { ignoreUpgrade, Problem } from "@cloud-sandbox/server-kit";
import { createGatewayServer, listen } from "../gateway/gateway-server.js";
import { isUpgrade } from "../gateway/request-routing.js";
import { Forwarder } from "./forwarder.js";
import { type ProxiedCall, requestCall, upgradeCall } from "./proxied-call.js";

/** The leader, as replicas announce it to each other. Addresses are host and port of a replica's second port. */
export interface Leadership {
  /** Undefined if nobody leads, or the one that does is not ready. */
  readonly address: string | undefined;
  /** The server that led before, if it was told to stop and still ends its calls. */
  readonly endingAddress: string | undefined;
}

export interface ProxyTimes {
  /**
   * Milliseconds that a request waits for a leader: longer than the last leader needs to end its calls, and the next one
   * to start.
   */
  readonly waitMs: number;
  /** Milliseconds that a server that was told to stop lets executions continue that began before. */
  readonly executionsMs: number;
  /** Milliseconds that it continues changes, such as creates, because a caller who repeats one would make two. */
  readonly changesMs: number;
  /**
   * Milliseconds that a server that was told to stop accepts connections, because load balancers learn late that it
   * ends.
   */
  readonly lingerMs: number;
  /** Milliseconds that it then waits for the calls that it relays. */
  readonly passingMs: number;
}

const usualTimes: ProxyTimes = {
  waitMs: 40_000,
  executionsMs: 10_000,
  changesMs: 30_000,
  lingerMs: 5000,
  passingMs: 25_000,
};
/** Milliseconds until other replicas notice that this one does not lead any more. */
const noticeMs = 2000;
/** Longest time for which another server that was told to stop still ends its calls. */
const longestEndMs = 60_000;
const lookMs = 50;
const cutMs = 1000;

/** Stands for this server, in place of the address of another one. */
const here = Symbol("this server");

/**
 * Listens where callers connect. This server answers their requests while it leads; otherwise it passes them on to the server
 * that leads. While none does, they wait. Requests that others pass on come in at a second port.
 */
export class ReplicaProxy {
  readonly #outer = this.#listen({ isInner: false });
  readonly #inner = this.#listen({ isInner: true });
  readonly #forwarder = new Forwarder();
  /** The calls that are not over, with who answers them. Those that wait have nobody. */
  readonly #calls = new Map<ProxiedCall, string | typeof here | undefined>();
  readonly #closing = new AbortController();
  readonly #times: ProxyTimes;
  #timer: NodeJS.Timeout | undefined;
  /** The control plane's server, while this one leads. */
  #own: Server | undefined;
  #ownAddress: string | undefined;
  /** When this server was told to stop. */
  #endingSince: number | undefined;
  /** Another server that was told to stop, and when this one learned of it. */
  #otherEnding: { readonly address: string | undefined; readonly since: number } | undefined;

  constructor(
    private readonly leadership: Leadership,
    times: Partial<ProxyTimes> = {},
  ) {
    this.#times = { ...usualTimes, ...times };
  }

  /** Listens. Resolves with the base URL for callers on this machine. */
  open(host: string, port: number): Promise<string> {
    this.#timer = setInterval(() => this.#cutLost(), cutMs).unref();
    return listen(this.#outer, host, port);
  }

  /** Does not keep this process running. */
  unref(): void {
    this.#outer.unref().on("connection", (socket: Socket) => socket.unref());
  }

  /** Lets this server answer. Resolves with the address at which others pass requests on to it. */
  async lead(own: Server, host: string, port: number): Promise<string> {
    // It listens from then on: a server that does not know yet that another one leads gets an answer that says so.
    this.#ownAddress ??= `${reachableHost(host)}:${new URL(await listen(this.#inner, host, port)).port}`;
    this.#own = own;
    this.#cutLost();
    return this.#ownAddress;
  }

  /** Lets another server answer that leads already. Code that this one still runs for callers is interrupted. */
  follow(): void {
    this.#own = undefined;
    this.#interrupt();
  }

  /** From now on, connections end with their next answer, and callers find other servers. */
  beginToEnd(): void {
    this.#endingSince ??= performance.now();
    for (const call of this.#calls.keys()) call.endConnection();
  }

  /** Lets new calls wait for the next server that leads. Resolves when those that this one answers are over, or interrupted. */
  async finishCalls(): Promise<void> {
    this.#own = undefined;
    const now = performance.now();
    const isIdle = (): boolean => ![...this.#calls.values()].includes(here);
    await this.#until(isIdle, now + this.#times.executionsMs);
    this.#interrupt();
    await this.#until(isIdle, now + this.#times.changesMs);
  }

  /** Passes calls on to the next server that leads, until there are no more, or it takes too long. */
  async passOnRest(): Promise<void> {
    const now = performance.now();
    const { lingerMs, passingMs } = this.#times;
    const least = Math.max((this.#endingSince ?? now) + lingerMs, now + Math.min(noticeMs, lingerMs));
    const isOver = (): boolean => performance.now() >= least && this.#calls.size === 0;
    await this.#until(isOver, now + lingerMs + passingMs);
    this.#outer.close();
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
    for (const server of [this.#outer, this.#inner]) server.close().closeAllConnections();
    for (const call of this.#calls.keys()) call.cut();
    this.#forwarder.close();
  }

  #listen({ isInner }: { readonly isInner: boolean }): Server {
    const server = createGatewayServer();
    server.on("request", (request, response) => {
      this.#admit(requestCall(request, response, this.#forwarder), isInner).catch(() => response.destroy());
    });
    server.on("upgrade", (request, connection: Socket, head: Buffer) => {
      if (!isUpgrade(request)) return ignoreUpgrade(server, request, connection, head);
      connection.on("error", () => connection.destroy());
      const call = upgradeCall(request, connection, head, this.#forwarder);
      this.#admit(call, isInner).catch(() => connection.destroy());
    });
    return server;
  }

  async #admit(call: ProxiedCall, isInner: boolean): Promise<void> {
    this.#calls.set(call, undefined);
    call.onceOver(() => this.#calls.delete(call));
    if (this.#endingSince !== undefined) call.endConnection();
    const until = performance.now() + this.#times.waitMs;
    while (!this.#closing.signal.aborted && !call.isOver) {
      if (this.#own) {
        this.#calls.set(call, here);
        return call.answerBy(this.#own);
      }
      // Two servers that are mistaken about who leads must not pass calls back and forth.
      if (isInner && this.#endingSince === undefined) return call.refuse(nobodyLeads());
      const { address } = this.leadership;
      if (address !== undefined && address !== this.#ownAddress) {
        this.#calls.set(call, address);
        if (await call.passTo(address)) return;
        if (call.isOver) return;
        this.#calls.set(call, undefined);
      }
      if (performance.now() > until) return call.refuse(nobodyLeads());
      await this.#pause();
    }
  }

  /** Ends calls that this server does not answer to the end. Changes end by themselves: they are made or refused. */
  #interrupt(): void {
    for (const [call, by] of this.#calls)
      if (by === here && (call.runsCode || call.hasBegun)) call.refuse(interrupted());
  }

  /** Cuts calls that were passed on to a server that does not lead any more: if its machine was lost, nobody else would end them. */
  #cutLost(): void {
    const { address, endingAddress } = this.leadership;
    const now = performance.now();
    if (this.#otherEnding?.address !== endingAddress)
      this.#otherEnding = { address: endingAddress, since: now };
    const hasTime = now - (this.#otherEnding?.since ?? 0) < longestEndMs;
    for (const [call, by] of this.#calls) {
      if (typeof by !== "string" || by === address || (hasTime && by === endingAddress)) continue;
      if (this.#own || address !== undefined) call.cut();
    }
  }

  async #until(isTrue: () => boolean, limit: number): Promise<void> {
    while (!isTrue() && performance.now() < limit && !this.#closing.signal.aborted) {
      await this.#pause();
      // Node reads what has arrived meanwhile before this promise resolves.
      await nextTurn();
    }
  }

  #pause(): Promise<void> {
    return sleep(lookMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
  }
}

/** The address of this machine, if the server listens on all. A Pod has one. */
function reachableHost(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host.includes(":") ? `[${host}]` : host;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const { address = "127.0.0.1", family } = own.find(({ internal }) => !internal) ?? {};
  return family === "IPv6" ? `[${address}]` : address;
}

/** Answers those who have waited in vain. */
const nobodyLeads = (): Problem =>
  new Problem(
    503,
    "SERVICE_UNAVAILABLE",
    "No server leads now: the API server of the cluster does not answer, or one is about to lead.",
    { hint: "Call again in some seconds.", headers: { "retry-after": "2", connection: "close" } },
  );

/** Not a 503, which clients repeat: code may have run. */
const interrupted = (): Problem =>
  new Problem(
    409,
    "EXECUTION_INTERRUPTED",
    "The server that answered this call has ended, or does not lead any more. The sandbox goes on, but what the call ran there was ended.",
    {
      hint: "Check what the code has done before you run it again. Programs in the background go on when servers change.",
    },
  );
