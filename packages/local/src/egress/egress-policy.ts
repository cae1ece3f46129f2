import { Problem } from "@cloud-sandbox/server-kit";
import type { RequestedEgress } from "@cloud-sandbox/server-kit/handlers";
import { isPublicAddress, reachedAddress, specialBlockOf } from "../addresses/public-address.js";
import { type Destination, isHostAlias } from "./destination.js";
import { DestinationPattern } from "./destination-pattern.js";

/** The egress rules that a sandbox was created with. */
export interface EgressRules {
  readonly internetAccess: boolean;
  /** Destinations that may be reached. If set, all others are refused. */
  readonly allow?: readonly DestinationPattern[] | undefined;
  /** Destinations that are refused, even if `allow` has them. */
  readonly deny?: readonly DestinationPattern[] | undefined;
}

/** The operator's rules, which apply to every sandbox of this machine. */
export interface OperatorRules {
  /** Destinations that may be reached although their addresses are not public. */
  readonly allowPrivate: readonly DestinationPattern[];
  readonly deny: readonly DestinationPattern[];
}

/** Decides where one sandbox may connect to. Its methods return a refusal as a sentence for people; undefined means allowed. */
export class EgressPolicy {
  constructor(
    private readonly rules: EgressRules,
    private readonly operator: OperatorRules,
  ) {}

  get internetAccess(): boolean {
    return this.rules.internetAccess;
  }

  /** Checks the name. A refused name is not looked up, because the lookup itself could carry data to a name server. */
  refuseName(destination: Destination): string | undefined {
    const { internetAccess, allow, deny = [] } = this.rules;
    if (!internetAccess) return "This sandbox has no internet access. Create one with internet_access: true.";
    if (this.operator.deny.some((pattern) => pattern.matchesName(destination)))
      return closedByOperator(destination);
    if (deny.some((pattern) => pattern.matchesName(destination))) return denied(destination);
    if (allow === undefined || allow.some((pattern) => pattern.matchesName(destination))) return undefined;
    return allow.some(({ isSubnet }) => isSubnet) ? undefined : notAllowed(destination);
  }

  /** Checks all addresses of the name. One refused address refuses the whole destination. */
  refuseAddresses(destination: Destination, addresses: readonly string[]): string | undefined {
    const { allow, deny = [] } = this.rules;
    const { port } = destination;
    const isIn = (patterns: readonly DestinationPattern[], address: string): boolean =>
      [address, reachedAddress(address)].some((each) =>
        patterns.some((pattern) => pattern.matchesAddress(each, port)),
      );
    const closed = addresses.find((address) => !this.#isOpen(destination, address));
    if (closed !== undefined) return notPublic(destination, closed);
    if (addresses.some((address) => isIn(this.operator.deny, address))) return closedByOperator(destination);
    if (addresses.some((address) => isIn(deny, address))) return denied(destination);
    if (allow === undefined || allow.some((pattern) => pattern.matchesName(destination))) return undefined;
    const areAllowed = addresses.length > 0 && addresses.every((address) => isIn(allow, address));
    return areAllowed ? undefined : notAllowed(destination);
  }

  /** Checks a host that is to get a secret. Its addresses are checked when it is connected to; names of this machine are private. */
  refuseSecretHost(destination: Destination): string | undefined {
    const refusal = this.refuseName(destination);
    if (refusal !== undefined) return refusal;
    const isOwn = isHostAlias(destination.host) || destination.host.endsWith(".localhost");
    return isOwn && !this.isNamedByOperator(destination) ? notPublic(destination, "127.0.0.1") : undefined;
  }

  /** Whether the operator allowed the destination by its name, and not only by its address or with a `*`. */
  isNamedByOperator(destination: Destination): boolean {
    return this.operator.allowPrivate.some((pattern) => pattern.isName && isFor(pattern, destination));
  }

  /** Whether the operator opened the destination as one of this machine's own network, to which no upstream proxy leads. */
  isInternal(destination: Destination, addresses: readonly string[]): boolean {
    const isOpened = (address: string): boolean =>
      !isPublicAddress(address) || this.#isPrivateAllowed(address, destination.port);
    return addresses.length > 0 && (this.isNamedByOperator(destination) || addresses.every(isOpened));
  }

  #isOpen(destination: Destination, address: string): boolean {
    return (
      isPublicAddress(address) ||
      this.operator.allowPrivate.some((pattern) => isFor(pattern, destination)) ||
      this.#isPrivateAllowed(address, destination.port)
    );
  }

  /** A NAT64 address is another network's route to an address, so to allow the address inside does not allow it. */
  #isPrivateAllowed(address: string, port: number): boolean {
    return this.operator.allowPrivate.some((pattern) => pattern.matchesAddress(address, port));
  }
}

/** Whether a pattern of the operator names the destination. The aliases of this machine are also its `localhost`. */
function isFor(pattern: DestinationPattern, { host, port }: Destination): boolean {
  const names = isHostAlias(host) ? [host, "localhost"] : [host];
  return names.some((name) => pattern.matchesName({ host: name, port }));
}

const notAllowed = ({ host, port }: Destination): string =>
  `${host}:${port} is not on the egress.allow list of this sandbox.`;

const denied = ({ host, port }: Destination): string =>
  `${host}:${port} is on the egress.deny list of this sandbox.`;

const closedByOperator = ({ host, port }: Destination): string =>
  `${host}:${port} is closed to sandboxes by the operator of this machine (--egress-deny).`;

/** Names the range and not the address, which is none of the sandbox's business. */
function notPublic({ host, port }: Destination, address: string): string {
  const { block, use } = specialBlockOf(address) ?? {};
  const range = block === undefined ? "" : ` (${block}: ${use})`;
  return `${host}:${port} is not on the public internet${range}. The operator of this machine can open it to sandboxes with --egress-allow-private ${host}:${port}.`;
}

/** The rules that a create request asks for. @throws a 400 problem that names an invalid entry. */
export function egressRules({ internetAccess, allow, deny }: RequestedEgress): EgressRules {
  if (!internetAccess && (allow ?? deny) !== undefined) {
    const message = "egress limits internet access, but internet_access is false.";
    throw new Problem(400, "INVALID_REQUEST", message, {
      hint: "Set internet_access to true, or leave egress out.",
    });
  }
  return { internetAccess, allow: patterns("allow", allow), deny: patterns("deny", deny) };
}

function patterns(
  list: "allow" | "deny",
  entries: readonly string[] | undefined,
): readonly DestinationPattern[] | undefined {
  return entries?.map((entry, index) => {
    const pattern = DestinationPattern.parse(entry);
    if (pattern) return pattern;
    const message = `egress.${list}[${index}] is not a valid destination.`;
    throw new Problem(400, "INVALID_REQUEST", message, {
      hint: "Write a name (pypi.org), all names below one (*.npmjs.org), an address or a range (203.0.113.0/24), and append :port to mean only that port.",
    });
  });
}
