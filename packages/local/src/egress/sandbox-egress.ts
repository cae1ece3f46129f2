import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { joinSockets } from "../runtime/host/joined-sockets.js";
import { authorityOf, type Destination, EgressProblem } from "./destination.js";
import type { Dialed, Dialer, EgressAccess, JoinTunnel } from "./dialer.js";
import { EgressLog, type EgressProtocol, type LoggedAttempt } from "./egress-log.js";
import type { EgressPolicy } from "./egress-policy.js";
import { HeldDestinations } from "./held-destinations.js";
import type { HttpProxy } from "./http-proxy.js";
import type { EndedTls } from "./secrets/ended-tls.js";
import { hasPlaceholder } from "./secrets/replaced-head.js";
import type { Secret } from "./secrets/secret.js";
import { readableOrOver } from "./socks-messages.js";
import { serveSocks } from "./socks-proxy.js";

export interface EgressLimits {
  /** Limit of one sandbox's open connections to the proxy, and of those that the proxy makes for it. So many further ones are refused, the others closed. */
  readonly connections: number;
  /** Milliseconds within which a program must name its destination. */
  readonly greetingMs: number;
  /** A connection is closed after this many milliseconds without a byte in either direction. */
  readonly idleMs: number;
}

const socksVersion = 5;

/** Called with what became of each connection that a sandbox asked for. */
export type OnEgressDecision = (decision: "allowed" | "refused" | "failed" | "dropped") => void;

/** What a sandbox's egress tells, besides its log. */
export interface EgressTelling {
  readonly type: "egress.refused" | "egress.held";
  readonly host: string;
  readonly port: number;
  readonly reason?: string;
}

/** Refusals are told so often in a minute, of all destinations and of each. */
const toldMs = 60_000;
const mostTold = 60;

/** A connection that was made for the sandbox. */
interface OpenConnection {
  readonly destination: Destination;
  readonly attempt: LoggedAttempt;
  readonly protocol: EgressProtocol;
  /** Whether somebody allowed it who was asked. */
  readonly wasAsked: boolean;
}

/** The egress of one sandbox: serves all connections from its socket, HTTP and SOCKS5. */
export class SandboxEgress implements EgressAccess {
  readonly log = new EgressLog();
  readonly #connections = new Set<Socket>();
  /** The connections that are tunnels, with their destinations. */
  readonly #tunnels = new Map<Socket, Destination>();
  #secrets: readonly Secret[] = [];
  /** The connections made for the sandbox. */
  readonly #open = new Map<Socket, OpenConnection>();
  readonly #held = new HeldDestinations(({ host, port }) =>
    this.onTelling({ type: "egress.held", host, port }),
  );
  /** When refusals were told, by destination. */
  readonly #told = new Map<string, number>();
  /** Connections beyond the limit, which are open until their program has read why they are refused. */
  readonly #refused = new Set<Socket>();
  /** Number of open connections made for the sandbox. Counted separately, because one client connection can request many by pipelining. */
  #upstreams = 0;
  #isClosed = false;

  constructor(
    readonly id: string,
    private allowed: EgressPolicy,
    private readonly dialer: Dialer,
    private readonly http: HttpProxy,
    private readonly endedTls: EndedTls,
    private readonly limits: EgressLimits,
    private readonly onDecision: OnEgressDecision = () => undefined,
    /** Whether there is room for another connection besides these of this sandbox and all others. */
    private readonly hasRoom: (open: number) => boolean = () => true,
    private readonly onTelling: (telling: EgressTelling) => void = () => undefined,
  ) {}

  /** Number of connections that are open now, to the proxy and from it. */
  get open(): number {
    return this.#connections.size + this.#refused.size + this.#upstreams;
  }

  /** Serves a connection that a program in the sandbox opened. */
  accept(client: Socket): void {
    const isFull = this.#connections.size >= this.limits.connections || !this.hasRoom(this.open);
    const isFlood = isFull && (this.#refused.size >= this.limits.connections || !this.hasRoom(this.open / 2));
    if (this.#isClosed || isFlood) {
      this.log.noteDropped();
      this.onDecision("dropped");
      client.destroy();
      return;
    }
    const connections = isFull ? this.#refused : this.#connections;
    connections.add(client);
    client.once("close", () => connections.delete(client));
    client.on("error", () => client.destroy());
    client.on("timeout", () => client.destroy());
    client.setTimeout(this.limits.greetingMs);
    this.#serve(client, isFull ? this.#refusal : this).catch(() => client.destroy());
  }

  get policy(): EgressPolicy {
    return this.allowed;
  }

  /** Sets where the sandbox may connect to. Open connections that are refused now are closed. */
  set policy(policy: EgressPolicy) {
    this.allowed = policy;
    for (const [socket, { destination, attempt, ...how }] of this.#open) {
      const refusal = this.#refusalOf(destination, attempt.address, how);
      if (refusal === undefined) continue;
      attempt.reason = `Closed, because the rules were changed: ${refusal}`;
      socket.destroy();
    }
    this.#held.release((destination) => policy.mustAsk(destination));
  }

  /** Answers the programs that wait for a destination. False if none does. */
  decide(destination: Destination, isAllowed: boolean): boolean {
    return this.#held.decide(destination, isAllowed);
  }

  get secrets(): readonly Secret[] {
    return this.#secrets;
  }

  /**
   * Sets the secrets of the sandbox. Tunnels to hosts of one that is new, changed or gone are closed: what goes through them was decided
   * when they were opened.
   */
  set secrets(secrets: readonly Secret[]) {
    const changed = [...secrets, ...this.#secrets].filter(
      (secret) => !(secrets.includes(secret) && this.#secrets.includes(secret)),
    );
    this.#secrets = secrets;
    this.closeTunnels(changed);
  }

  closeTunnels(secrets: readonly Secret[]): void {
    for (const [client, destination] of this.#tunnels)
      if (secrets.some((secret) => secret.isFor(destination))) client.destroy();
  }

  async tunnel(protocol: EgressProtocol, destination: Destination, signal: AbortSignal): Promise<JoinTunnel> {
    let isDecided = false;
    const dial = async (): Promise<Socket> => {
      const { socket } = await this.connect(protocol, destination, signal, isDecided);
      // A server that speaks HTTP/2 alone is connected to twice.
      isDecided = true;
      return socket;
    };
    const all = this.#secrets;
    const secrets = all.filter((secret) => secret.isFor(destination));
    const join: JoinTunnel = await (secrets.length === 0
      ? dial().then(blindly)
      : this.endedTls.open({
          destination,
          secrets,
          others: all.filter((secret) => !secrets.includes(secret)),
          refuse: (method, target) => this.#refuseRequest(destination, method, target),
          request: (method, target) => {
            const entry = this.log.request(destination, method, target);
            entry.rule = this.policy.requestRule(destination, method, target);
            return entry;
          },
          dial,
          signal,
          handshakeMs: this.limits.greetingMs,
        }));
    return (client, head) => {
      this.#tunnels.set(client, destination);
      client.once("close", () => this.#tunnels.delete(client));
      // The secrets may have changed while the connection was made.
      if (all === this.#secrets) join(client, head);
      else client.destroy();
    };
  }

  requireNoSecret(isSecure: boolean, destination: Destination, request: IncomingMessage): void {
    if (this.#secrets.length === 0) return;
    const head = [request.url ?? "", ...request.rawHeaders].join("\n");
    const isForSecret = isSecure && this.#secrets.some((secret) => secret.isFor(destination));
    if (!isForSecret && !hasPlaceholder(head, this.#secrets)) return;
    const why = isSecure
      ? `Secrets are put into requests within a tunnel alone (CONNECT), and this one to ${authorityOf(destination)} came without.`
      : `Secrets are sent over TLS alone, and this request to ${authorityOf(destination)} is plain HTTP.`;
    this.log.begin("http", destination).end("refused", why);
    this.onDecision("refused");
    throw new EgressProblem("refused", why);
  }

  /** `isDecided`: whether who was asked has allowed the destination before, for the same tunnel. */
  async connect(
    protocol: EgressProtocol,
    destination: Destination,
    signal: AbortSignal,
    isDecided = false,
  ): Promise<Dialed> {
    const attempt = this.log.begin(protocol, destination);
    this.#upstreams += 1;
    try {
      if (this.#upstreams > this.limits.connections || !this.hasRoom(this.open - 1))
        throw tooMany(Math.min(this.#upstreams - 1, this.limits.connections));
      attempt.rule = this.policy.ruleFor(destination);
      const wasAsked = this.policy.mustAsk(destination);
      if (wasAsked && !isDecided) await this.#held.wait(destination, signal);
      const forbidden = this.#refusalOf(destination, undefined, { protocol, wasAsked });
      if (forbidden !== undefined) throw new EgressProblem("refused", forbidden);
      const { policy, id: caller } = this;
      const dialed = await this.dialer.dial({ destination, policy, protocol, caller, signal });
      const { socket, address } = dialed;
      // The rules may have changed while the connection was made.
      const refusal = this.#refusalOf(destination, address, { protocol, wasAsked });
      if (refusal !== undefined) {
        socket.destroy();
        throw new EgressProblem("refused", refusal);
      }
      attempt.rule = this.policy.ruleFor(destination, address === undefined ? [] : [address]);
      attempt.allow(socket, address);
      this.onDecision("allowed");
      this.#open.set(socket, { destination, attempt, protocol, wasAsked });
      socket.once("close", () => {
        this.#open.delete(socket);
        this.#upstreams -= 1;
      });
      if (signal.aborted || this.#isClosed) socket.destroy();
      socket.on("timeout", () => socket.destroy());
      this.watchIdle(socket);
      // Unreference the socket, so that an open connection does not keep this process running.
      socket.unref();
      return dialed;
    } catch (error) {
      this.#upstreams -= 1;
      const isRefused = error instanceof EgressProblem && error.kind === "refused";
      const reason = error instanceof EgressProblem ? error.message : "The program closed its connection.";
      const decision = isRefused ? "refused" : "failed";
      // One of its addresses is refused although its name is allowed: the reason says by what.
      if (isRefused && attempt.rule?.startsWith("allow ")) attempt.rule = undefined;
      attempt.end(decision, reason);
      this.onDecision(decision);
      if (isRefused) this.#tellRefused(destination, reason);
      throw error;
    }
  }

  #refuseRequest(destination: Destination, method: string, target: string): string | undefined {
    const refusal = this.policy.refuseRequest(destination, method, target);
    if (refusal !== undefined) this.#tellRefused(destination, refusal);
    return refusal;
  }

  /** Tells of a refusal, unless that was done a short time ago: a program may try thousands in a second. */
  #tellRefused(destination: Destination, reason: string): void {
    const now = performance.now();
    for (const [name, at] of this.#told) if (now - at > toldMs) this.#told.delete(name);
    const name = authorityOf(destination);
    if (this.#told.has(name) || this.#told.size >= mostTold) return;
    this.#told.set(name, now);
    const { host, port } = destination;
    this.onTelling({ type: "egress.refused", host, port, reason });
  }

  /** Why a connection is refused by the rules that hold now. Behind an upstream proxy, its address is not known. */
  #refusalOf(
    destination: Destination,
    address: string | undefined,
    { protocol, wasAsked }: Pick<OpenConnection, "protocol" | "wasAsked">,
  ): string | undefined {
    const { policy } = this;
    const refusal =
      policy.refuseName(destination) ??
      (address === undefined ? undefined : policy.refuseAddresses(destination, [address]));
    if (refusal !== undefined) return refusal;
    const name = authorityOf(destination);
    if (!wasAsked && policy.mustAsk(destination)) return `${name} is on no list of this sandbox.`;
    const isEnded = protocol !== "http" && this.#secrets.some((secret) => secret.isFor(destination));
    return isEnded || !policy.limitsRequests(destination)
      ? undefined
      : `Requests to ${name} are limited to methods or paths, which can be seen only where a secret is for this host.`;
  }

  /** Answers connections beyond the limit with a refusal, in the protocol that the program speaks. */
  readonly #refusal: EgressAccess = {
    connect: async (protocol, destination) => {
      const problem = tooMany(Math.min(this.#connections.size, this.limits.connections));
      this.log.begin(protocol, destination).end("failed", problem.message);
      this.onDecision("failed");
      throw problem;
    },
    tunnel: async (protocol, destination, signal) => {
      const { socket } = await this.#refusal.connect(protocol, destination, signal);
      return blindly(socket);
    },
    requireNoSecret: () => undefined,
    watchIdle: () => undefined,
  };

  watchIdle(socket: Socket): void {
    socket.setTimeout(this.limits.idleMs);
  }

  /** Closes all connections, and every later one. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#connections, ...this.#refused]) connection.destroy();
  }

  async #serve(client: Socket, access: EgressAccess): Promise<void> {
    const first = await firstByte(client);
    if (first === undefined) {
      client.destroy();
    } else if (first === socksVersion) {
      const gone = new AbortController();
      client.once("close", () => gone.abort());
      await serveSocks(client, access, gone.signal);
    } else {
      this.http.serve(client, access);
    }
  }
}

/** A tunnel that carries bytes as they are. */
function blindly(upstream: Socket): JoinTunnel {
  return (client, head) => {
    if (head && head.length > 0) upstream.write(head);
    joinSockets(client, upstream);
  };
}

const tooMany = (limit: number): EgressProblem =>
  new EgressProblem(
    "exhausted",
    `This sandbox has reached its limit of ${limit} open connections. Close some.`,
  );

/** The first byte of a connection, put back so that it can be read again. Undefined if the connection ends without a byte. */
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
