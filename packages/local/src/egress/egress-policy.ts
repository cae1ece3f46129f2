import { isIP } from "node:net";
import { Problem } from "@cloud-sandbox/server-kit";
import type { RequestedEgress } from "@cloud-sandbox/server-kit/handlers";
import { addressInside, isPublicAddress, specialBlockOf } from "../addresses/public-address.js";
import { authorityOf, type Destination, isHostAlias } from "./destination.js";
import { DestinationPattern } from "./destination-pattern.js";
import { RequestRule } from "./request-rule.js";
import { isAmbiguousPath } from "./secrets/path-patterns.js";

/** The egress rules that a sandbox was created with. */
export interface EgressRules {
  readonly internetAccess: boolean;
  /** Destinations that may be reached. If set, all others are refused. */
  readonly allow?: readonly DestinationPattern[] | undefined;
  /** Destinations that are refused, even if `allow` has them. */
  readonly deny?: readonly DestinationPattern[] | undefined;
  /** Whether somebody is asked about destinations that no list names. */
  readonly ask?: boolean;
  /** Entries about requests. The hosts of those that allow some are in `allow` too. */
  readonly requests?: { readonly allow: readonly RequestRule[]; readonly deny: readonly RequestRule[] };
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

  /** Whether somebody is to be asked, because no list names the destination. */
  mustAsk(destination: Destination): boolean {
    const { ask = false, allow = [], deny = [] } = this.rules;
    if (!ask || this.refuseName(destination) !== undefined) return false;
    const { host, port } = destination;
    const isAddress = isIP(host) !== 0;
    return ![...allow, ...deny].some(
      (pattern) => pattern.matchesName(destination) || (isAddress && matchesAddress(pattern, host, port)),
    );
  }

  /** Whether there are rules about requests to the destination, so that its TLS must be ended. */
  limitsRequests(destination: Destination): boolean {
    const { allow = [], deny = [] } = this.rules.requests ?? {};
    return [...allow, ...deny].some((rule) => rule.isFor(destination));
  }

  /** Checks a request to a host whose TLS is ended. */
  refuseRequest(destination: Destination, method: string, target: string): string | undefined {
    if (!this.limitsRequests(destination)) return undefined;
    const { requests = { allow: [], deny: [] }, allow = [] } = this.rules;
    const path = target.split("?")[0] ?? "";
    const what = `${method} ${authorityOf(destination)}`;
    if (isAmbiguousPath(path))
      return `${what} has a path that could mean another one, and there are rules for paths.`;
    const matches = (rule: RequestRule): boolean => rule.isFor(destination) && rule.matches(method, path);
    if (requests.deny.some(matches))
      return `${what} with this path is on the egress.deny list of this sandbox.`;
    const hosts = new Set(requests.allow.map(({ pattern }) => pattern));
    const isWholeAllowed = allow.some((pattern) => !hosts.has(pattern) && pattern.matchesName(destination));
    if (
      isWholeAllowed ||
      !requests.allow.some((rule) => rule.isFor(destination)) ||
      requests.allow.some(matches)
    )
      return undefined;
    return `${what} with this path is not on the egress.allow list of this sandbox.`;
  }

  /** The rule that decides about a destination, as its list has it. Undefined if none does. */
  ruleFor(destination: Destination, addresses: readonly string[] = []): string | undefined {
    const { internetAccess, allow, deny = [], ask = false, requests } = this.rules;
    const { host, port } = destination;
    const all = isIP(host) === 0 ? addresses : [host];
    const named = (patterns: readonly DestinationPattern[] = []): string | undefined =>
      patterns.find(
        (pattern) =>
          pattern.matchesName(destination) || all.some((address) => matchesAddress(pattern, address, port)),
      )?.text;
    if (!internetAccess) return "internet_access";
    const closed = named(this.operator.deny);
    if (closed !== undefined) return `--egress-deny ${closed}`;
    const denied = named(deny);
    if (denied !== undefined) return `deny ${denied}`;
    const request = requests?.allow.find((rule) => rule.isFor(destination))?.text;
    const allowed = request ?? named(allow);
    if (allowed !== undefined) return `allow ${allowed}`;
    return ask ? "ask" : allow && "allow";
  }

  /** The rule that decides about a request to a host whose TLS is ended. */
  requestRule(destination: Destination, method: string, target: string): string | undefined {
    const path = target.split("?")[0] ?? "";
    const matches = (rule: RequestRule): boolean => rule.isFor(destination) && rule.matches(method, path);
    const { allow = [], deny = [] } = this.rules.requests ?? {};
    const denied = deny.find(matches);
    const allowed = allow.find(matches);
    if (denied) return `deny ${denied.text}`;
    return allowed ? `allow ${allowed.text}` : this.ruleFor(destination);
  }

  /** Checks the name. A refused name is not looked up, because the lookup itself could carry data to a name server. */
  refuseName(destination: Destination): string | undefined {
    const { internetAccess, allow, deny = [], ask } = this.rules;
    if (!internetAccess) return "This sandbox has no internet access. Create one with internet_access: true.";
    if (this.operator.deny.some((pattern) => pattern.matchesName(destination)))
      return closedByOperator(destination);
    if (deny.some((pattern) => pattern.matchesName(destination))) return denied(destination);
    if (!allow || ask || allow.some((pattern) => pattern.matchesName(destination))) return undefined;
    return allow.some(({ isSubnet }) => isSubnet) ? undefined : notAllowed(destination);
  }

  /** Checks all addresses of the name. One refused address refuses the whole destination. */
  refuseAddresses(destination: Destination, addresses: readonly string[]): string | undefined {
    const { allow, deny = [], ask } = this.rules;
    const { port } = destination;
    const isIn = (patterns: readonly DestinationPattern[], address: string): boolean =>
      patterns.some((pattern) => matchesAddress(pattern, address, port));
    const closed = addresses.find((address) => !this.#isOpen(destination, address));
    if (closed !== undefined) return notPublic(destination, closed);
    if (addresses.some((address) => isIn(this.operator.deny, address))) return closedByOperator(destination);
    if (addresses.some((address) => isIn(deny, address))) return denied(destination);
    if (!allow || ask || allow.some((pattern) => pattern.matchesName(destination))) return undefined;
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

/** Whether a list's pattern matches an address, or the IPv4 address inside it, to which the same connection leads. */
const matchesAddress = (pattern: DestinationPattern, address: string, port: number): boolean =>
  [address, addressInside(address)].some((each) => pattern.matchesAddress(each, port));

/** Whether a pattern of the operator names the destination. The aliases of this machine are also its `localhost`. */
function isFor(pattern: DestinationPattern, { host, port }: Destination): boolean {
  const names = isHostAlias(host) ? [host, "localhost"] : [host];
  return names.some((name) => pattern.matchesName({ host: name, port }));
}

const notAllowed = (destination: Destination): string =>
  `${authorityOf(destination)} is not on the egress.allow list of this sandbox.`;

const denied = (destination: Destination): string =>
  `${authorityOf(destination)} is on the egress.deny list of this sandbox.`;

const closedByOperator = (destination: Destination): string =>
  `${authorityOf(destination)} is closed to sandboxes by the operator of this machine (--egress-deny).`;

/** Names the range and not the address, which is none of the sandbox's business. */
function notPublic(destination: Destination, address: string): string {
  const name = authorityOf(destination);
  const { block, use } = specialBlockOf(address) ?? {};
  const range = block === undefined ? "" : ` (${block}: ${use})`;
  return `${name} is not on the public internet${range}. The operator of this machine can open it to sandboxes with --egress-allow-private ${name}.`;
}

/** The rules that a create request asks for. @throws a 400 problem that names an invalid entry. */
export function egressRules({ internetAccess, allow, deny, ask = false }: RequestedEgress): EgressRules {
  if (!internetAccess && (allow ?? deny ?? (ask || undefined)) !== undefined) {
    const message = "egress limits internet access, but internet_access is false.";
    throw new Problem(400, "INVALID_REQUEST", message, {
      hint: "Set internet_access to true, or leave egress out.",
    });
  }
  const [allowed, denied] = [parsed("allow", allow), parsed("deny", deny)];
  const requests = { allow: allowed?.requests ?? [], deny: denied?.requests ?? [] };
  if (requests.deny.length > 0 && !allowed && !ask) throw withoutAllowList();
  const hosts = requests.allow.map(({ pattern }) => pattern);
  return {
    internetAccess,
    allow: allowed && [...allowed.destinations, ...hosts],
    deny: denied?.destinations,
    ...(ask && { ask }),
    ...(requests.allow.length + requests.deny.length > 0 && { requests }),
  };
}

interface Entries {
  readonly destinations: readonly DestinationPattern[];
  readonly requests: readonly RequestRule[];
}

function parsed(list: "allow" | "deny", entries: readonly string[] | undefined): Entries | undefined {
  if (!entries) return undefined;
  const destinations: DestinationPattern[] = [];
  const requests: RequestRule[] = [];
  for (const [index, entry] of entries.entries()) {
    const pattern = DestinationPattern.parse(entry);
    const rule = pattern ? undefined : RequestRule.parse(entry);
    if (pattern) destinations.push(pattern);
    else if (rule) requests.push(rule);
    else {
      const message = `egress.${list}[${index}] is not a valid destination.`;
      throw new Problem(400, "INVALID_REQUEST", message, {
        hint: "Write a name (pypi.org), all names below one (*.npmjs.org), an address or a range (203.0.113.0/24), and append :port to mean only that port. For hosts that have a secret, methods and a path may limit requests: GET,HEAD api.github.com/repos/*.",
      });
    }
  }
  return { destinations, requests };
}

const withoutAllowList = (): Problem =>
  new Problem(
    400,
    "INVALID_REQUEST",
    "egress.deny has methods or paths, and there is neither egress.allow nor ask: without, a program reaches the host by its address, where nobody sees its requests.",
    { hint: "Set egress.allow to the hosts that are needed." },
  );
