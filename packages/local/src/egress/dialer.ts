import { connect, isIP, type Socket } from "node:net";
import type { Destination } from "./destination.js";
import type { EgressPolicy } from "./egress-policy.js";
import { EgressProblem } from "./egress-problem.js";
import type { NameResolver } from "./name-resolver.js";

/** Time that one address has before the next one is tried, and that all have together. */
const attemptMs = 3000;
const connectMs = 15_000;

export interface DialerOptions {
  readonly resolve: NameResolver;
}

/** Makes connections to where a policy lets them go. */
export class Dialer {
  constructor(private readonly options: DialerOptions) {}

  /** A connection to one of the very addresses that were checked: the name is never looked up a second time. */
  async dial(destination: Destination, policy: EgressPolicy, signal: AbortSignal): Promise<Socket> {
    const { host, port } = destination;
    refuse(policy.refuseName(destination));
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    refuse(policy.refuseAddresses(destination, addresses));
    signal.throwIfAborted();
    const byFamily = addresses.map((address) => ({ address, family: isIP(address) }));
    const socket = connect({
      host,
      port,
      allowHalfOpen: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptMs,
      lookup: (_name, _options, done) =>
        done(
          null,
          byFamily.sort((a, b) => a.family - b.family),
        ),
    });
    try {
      await connected(socket, destination, signal);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  async #resolve(host: string): Promise<readonly string[]> {
    const addresses = await this.options.resolve(host).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ETIMEOUT")
        throw new EgressProblem("timeout", `The name ${host} was not resolved in time.`);
      throw unresolvable(host);
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

function connected(socket: Socket, { host, port }: Destination, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(new EgressProblem("timeout", `${host}:${port} did not answer within ${connectMs / 1000} s.`)),
      connectMs,
    );
    const onAbort = (): void => reject(signal.reason);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("close", settle);
    socket.once("connect", () => {
      settle();
      resolve();
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      reject(
        new EgressProblem("unreachable", `${host}:${port} could not be reached${code ? ` (${code})` : ""}.`),
      ),
    );
  });
}
