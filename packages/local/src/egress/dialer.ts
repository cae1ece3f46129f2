import { connect, isIP, type Socket } from "node:net";
import { timeLimit } from "@cloud-sandbox/protocol";
import { destroyOnAbort } from "../relay/destroy-on-abort.js";
import type { Destination } from "./destination.js";
import type { EgressPolicy } from "./egress-policy.js";
import { EgressProblem } from "./egress-problem.js";
import type { InternetLack } from "./internet-lack.js";
import type { NameResolver } from "./name-resolver.js";
import { connectThrough } from "./upstream-proxy.js";

/** The time limit of one address before the next is tried, and of all addresses together. */
const attemptMs = 3000;
const connectMs = 15_000;

export interface DialerOptions {
  readonly resolve: NameResolver;
  /** Called when a connection fails: if this machine has no internet access, the error says so. */
  readonly lack: InternetLack;
  /** A proxy through which all connections are made. */
  readonly upstreamProxy?: URL | undefined;
}

export interface Dialed {
  readonly socket: Socket;
  /** The address that was connected to. Undefined when an upstream proxy made the connection. */
  readonly address: string | undefined;
}

/** Opens the connections that a sandbox's policy allows. */
export class Dialer {
  constructor(private readonly options: DialerOptions) {}

  /** Connects to a destination. Throws an EgressProblem if the policy refuses it or it cannot be reached. */
  async dial(destination: Destination, policy: EgressPolicy, signal: AbortSignal): Promise<Dialed> {
    refuse(policy.refuseName(destination));
    return this.#dial(destination, policy, signal).catch(async (error: unknown) => {
      const lack = error instanceof EgressProblem ? await this.#lack(destination, error) : undefined;
      throw lack === undefined ? error : lack;
    });
  }

  /** The problem to report if this machine has no internet access. Undefined if a connection failed for another reason. */
  async #lack({ host }: Destination, { kind, message }: EgressProblem): Promise<EgressProblem | undefined> {
    const isOfNetwork = kind === "unresolvable" || kind === "unreachable" || kind === "timeout";
    // A refused name can also mean that this machine has no internet access: in an isolated network, internet names may
    // resolve to private addresses, which the policy refuses.
    const isOfName = kind === "refused" && isIP(host) === 0;
    if (this.options.upstreamProxy || !(isOfNetwork || isOfName)) return undefined;
    const lack = await this.options.lack();
    return lack === undefined ? undefined : new EgressProblem(kind, `${lack} ${message}`);
  }

  /** Connects to one of the addresses that were checked. The name is not looked up again, since the answer could change. */
  async #dial(destination: Destination, policy: EgressPolicy, signal: AbortSignal): Promise<Dialed> {
    const { upstreamProxy } = this.options;
    const addresses = await this.#addresses(destination.host);
    refuse(policy.refuseAddresses(destination, addresses));
    const limited = timeLimit(connectMs, signal);
    try {
      if (upstreamProxy) {
        return { socket: await connectThrough(upstreamProxy, destination, limited), address: undefined };
      }
      const socket = await connectTo(addresses, destination, limited);
      return { socket, address: socket.remoteAddress };
    } catch (error) {
      signal.throwIfAborted();
      if (!limited.aborted) throw error;
      const { host, port } = destination;
      throw new EgressProblem("timeout", `${host}:${port} did not answer within ${connectMs / 1000} s.`);
    }
  }

  /** The host's addresses. Empty if the lookup fails here but an upstream proxy can still look the name up. */
  async #addresses(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    const { upstreamProxy } = this.options;
    return this.#resolve(host).catch((error: unknown) => {
      if (upstreamProxy) return [];
      throw error;
    });
  }

  async #resolve(host: string): Promise<readonly string[]> {
    const addresses = await this.options.resolve(host).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ETIMEOUT")
        throw new EgressProblem(
          "timeout",
          `The name servers of this machine did not resolve ${host} in time.`,
        );
      if (error.code === "ENOTFOUND" || error.code === "ENODATA") throw unresolvable(host);
      throw new EgressProblem("unresolvable", `The name ${host} could not be looked up (${error.code}).`);
    });
    if (addresses.length === 0) throw unresolvable(host);
    return addresses;
  }
}

const unresolvable = (host: string): EgressProblem =>
  new EgressProblem("unresolvable", `The name ${host} has no address.`);

function refuse(reason: string | undefined): void {
  if (reason !== undefined) throw new EgressProblem("refused", reason);
}

/** Tries the addresses one after the other, IPv4 first, until one answers. */
function connectTo(
  addresses: readonly string[],
  { host, port }: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const candidates = addresses
    .map((address) => ({ address, family: isIP(address) }))
    .sort((one, other) => one.family - other.family);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      allowHalfOpen: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptMs,
      lookup: (_name, _options, done) => done(null, candidates),
    });
    const stopListening = destroyOnAbort(signal, socket, reject);
    socket.once("connect", () => {
      stopListening();
      resolve(socket);
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      reject(
        new EgressProblem("unreachable", `${host}:${port} could not be reached${code ? ` (${code})` : ""}.`),
      ),
    );
  });
}
