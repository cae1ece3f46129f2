import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { timeLimit } from "@cloud-sandbox/protocol";
import type { NameResolver } from "../addresses/name-servers.js";
import { isPublicAddress } from "../addresses/public-address.js";
import { authorityOf, type Destination, EgressProblem, isHostAlias } from "./destination.js";
import type { EgressProtocol } from "./egress-log.js";
import type { EgressPolicy } from "./egress-policy.js";
import { firstConnection } from "./first-connection.js";
import type { InternetLack } from "./internet-lack.js";
import { connectThrough, connectToProxy, type UpstreamProxy } from "./upstream-proxy.js";

/** The time limit of a look-up, and of a connection. */
const limitMs = 15_000;
/**
 * Milliseconds for looking up the destinations of an upstream proxy here: behind one, the name servers may know no names
 * of the internet.
 */
const lookupBehindProxyMs = 1000;
const loopback = ["127.0.0.1", "::1"];

export interface DialerOptions {
  /** Looks up names of the internet. */
  readonly resolve: NameResolver;
  /** Looks up names that the operator allowed, as the machine's own programs do. */
  readonly resolveAllowed: NameResolver;
  /** Called when a connection fails: if this machine has no internet access, the error says so. */
  readonly lack: InternetLack;
  /** A proxy through which all connections are made, except those to the machine's own network. */
  readonly upstreamProxy?: UpstreamProxy | undefined;
}

interface DialRequest {
  readonly destination: Destination;
  readonly policy: EgressPolicy;
  readonly protocol: EgressProtocol;
  /** The sandbox that asks. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

export interface Dialed {
  readonly socket: Socket;
  /** The address that was connected to. Undefined when an upstream proxy makes the connection. */
  readonly address: string | undefined;
  /** The upstream proxy that the socket leads to, which expects plain HTTP requests in absolute form. Undefined for tunnels. */
  readonly proxy?: UpstreamProxy;
}

/** Opens the connections that a sandbox's policy allows. */
export class Dialer {
  constructor(private readonly options: DialerOptions) {}

  /** Connects to a destination. Throws an EgressProblem if the policy refuses it or it cannot be reached. */
  async dial(request: DialRequest): Promise<Dialed> {
    const { destination, policy } = request;
    refuse(policy.refuseName(destination));
    return this.#dial(request).catch(async (error: unknown) => {
      const lack = error instanceof EgressProblem ? await this.#lack(request, error) : undefined;
      throw lack === undefined ? error : lack;
    });
  }

  /** The problem to report if this machine has no internet access. Undefined if a connection failed for another reason. */
  async #lack(
    { destination, policy }: DialRequest,
    { kind, message }: EgressProblem,
  ): Promise<EgressProblem | undefined> {
    const { host } = destination;
    const isOfNetwork = kind === "unresolvable" || kind === "unreachable" || kind === "timeout";
    // A refused name can also mean that this machine has no internet access: in an isolated network, internet names may
    // resolve to private addresses, which the policy refuses.
    const isOfName = kind === "refused" && isIP(host) === 0;
    // What is in the machine's own network has another reason.
    const isInside =
      isOwn(host) ||
      (isIP(host) !== 0 && !isPublicAddress(host)) ||
      (kind === "unreachable" && policy.isNamedByOperator(destination));
    if (this.options.upstreamProxy || isInside || !(isOfNetwork || isOfName)) return undefined;
    const lack = await this.options.lack();
    return lack === undefined ? undefined : new EgressProblem(kind, `${lack.message} ${message}`);
  }

  /** Connects to one of the addresses that were checked. The name is not looked up again, since the answer could change. */
  async #dial(request: DialRequest): Promise<Dialed> {
    const { destination, policy, protocol, signal } = request;
    const addresses = await this.#addresses(request);
    refuse(policy.refuseAddresses(destination, addresses));
    const { upstreamProxy } = this.options;
    const isThroughProxy = upstreamProxy !== undefined && !policy.isInternal(destination, addresses);
    const limited = timeLimit(limitMs, signal);
    try {
      if (isThroughProxy) {
        // Many proxies allow CONNECT to port 443 alone.
        if (protocol === "http")
          return {
            socket: await connectToProxy(upstreamProxy, limited),
            address: undefined,
            proxy: upstreamProxy,
          };
        return { socket: await connectThrough(upstreamProxy, destination, limited), address: undefined };
      }
      const socket = await firstConnection(addresses, destination.port, limited);
      return { socket, address: socket.remoteAddress };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EgressProblem) throw error;
      const name = authorityOf(destination);
      if (limited.aborted) {
        const whom = isThroughProxy ? `The upstream proxy of this machine, asked for ${name},` : name;
        throw new EgressProblem("timeout", `${whom} did not answer within ${limitMs / 1000} s.`);
      }
      const { code } = error as NodeJS.ErrnoException;
      throw new EgressProblem("unreachable", `${name} could not be reached${code ? ` (${code})` : ""}.`);
    }
  }

  /** The host's addresses. Empty if the lookup fails here but an upstream proxy can still look the name up. */
  async #addresses(request: DialRequest): Promise<readonly string[]> {
    const { destination, policy } = request;
    const { host } = destination;
    if (isIP(host) !== 0) return [host];
    if (isOwn(host)) {
      // A service of this machine listens on one of them, and its owner allows that one.
      const allowed = loopback.filter(
        (address) => policy.refuseAddresses(destination, [address]) === undefined,
      );
      return allowed.length > 0 ? allowed : loopback;
    }
    if (!this.options.upstreamProxy) return this.#resolve(request);
    const found = await Promise.race([
      this.#resolve(request).catch(() => []),
      sleep(lookupBehindProxyMs, [], { ref: false }),
      this.#silence(),
    ]);
    return found;
  }

  /** Settles with no address if it is known that no name server answers. */
  async #silence(): Promise<readonly string[]> {
    const lack = await this.options.lack();
    return lack?.isSilent ? [] : new Promise(() => undefined);
  }

  async #resolve({ destination, policy, caller }: DialRequest): Promise<readonly string[]> {
    const { host, port } = destination;
    const isListed = policy.isNamedByOperator(destination);
    const { resolve, resolveAllowed } = this.options;
    const late = new AbortController();
    const limit = sleep(limitMs, undefined, { ref: false, signal: late.signal });
    limit.catch(() => undefined);
    const addresses = await Promise.race([(isListed ? resolveAllowed : resolve)(host, caller), limit])
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOTFOUND" || error.code === "ENODATA") return [];
        if (silences.has(error.code ?? "")) return undefined;
        throw new EgressProblem("unresolvable", `The name ${host} could not be looked up (${error.code}).`);
      })
      .finally(() => late.abort());
    if (addresses === undefined)
      throw new EgressProblem("timeout", `The name servers of this machine did not resolve ${host} in time.`);
    if (addresses.length > 0) return addresses;
    const own = isListed
      ? ""
      : ` Names of this machine's own network are looked up only if its operator allows them with --egress-allow-private ${host}:${port}.`;
    throw new EgressProblem("unresolvable", `The name ${host} has no address.${own}`);
  }
}

/** Errors of look-ups that nobody answered. */
const silences: ReadonlySet<string> = new Set(["ETIMEOUT", "EAI_AGAIN"]);

/** Whether a name means the machine itself. */
const isOwn = (host: string): boolean =>
  isHostAlias(host) || host === "localhost" || host.endsWith(".localhost");

function refuse(reason: string | undefined): void {
  if (reason !== undefined) throw new EgressProblem("refused", reason);
}

/** Joins a program's connection, of which `head` was read, to a tunnel. */
export type JoinTunnel = (client: Socket, head?: Buffer) => void;

/** The part of a sandbox's access to the internet that a proxy uses. */
export interface EgressAccess {
  /** Connects to a destination that the sandbox's policy allows; throws an EgressProblem that says why there is no connection. */
  connect(protocol: EgressProtocol, destination: Destination, signal: AbortSignal): Promise<Dialed>;
  /**
   * Opens a tunnel to a destination, and resolves with what joins the program's connection to it, and the bytes that were read of it. Fails as {@link connect} does, and for
   * a host that has a secret also if it does not prove by TLS that it is this host.
   */
  tunnel(protocol: EgressProtocol, destination: Destination, signal: AbortSignal): Promise<JoinTunnel>;
  /** Throws an EgressProblem if a request without a tunnel would send a secret's placeholder, or needs a secret. */
  requireNoSecret(isSecure: boolean, destination: Destination, request: IncomingMessage): void;
  /** Closes the connection once no byte went over it for a while. */
  watchIdle(socket: Socket): void;
}
