import { InvalidEgressError } from "../errors/local-errors.js";
import { DestinationPattern } from "./destination-pattern.js";
import { EgressGateway } from "./egress-gateway.js";
import type { NameResolver } from "./name-resolver.js";
import type { OnEgressDecision } from "./sandbox-egress.js";
import { parseUpstreamProxy } from "./upstream-proxy.js";

/** The operator's rules on what sandboxes with internet access may reach. */
export interface EgressOptions {
  /**
   * Destinations that sandboxes with `internet_access` may reach although they are in private, loopback or other ranges that
   * are not of the public internet: `127.0.0.1:8080`, `registry.internal:443`, `10.1.0.0/16`. Default: none.
   */
  readonly allowPrivate?: readonly string[];
  /** Destinations that no sandbox may reach, in the same form. Default: `*:25`, so that none sends mail. */
  readonly deny?: readonly string[];
  /**
   * URL of an HTTP proxy that this machine needs to reach the internet, for example `http://proxy.internal:3128`. The proxy
   * gets names and looks them up itself. Addresses are checked only if the name can also be looked up on this machine.
   * Default: none; proxy variables such as `HTTPS_PROXY` are not read.
   */
  readonly upstreamProxy?: string;
  /** Looks up a name's addresses, all of which are checked. Default: asks the name servers of this machine. */
  readonly resolve?: NameResolver;
}

/** Port 25 is closed, because a sandbox that sends spam gets the host's address onto block lists. */
export const defaultDeny: readonly string[] = ["*:25"];

/** The egress gateway for an operator's options. @throws InvalidEgressError when an option is invalid. */
export function egressGateway(
  { allowPrivate = [], deny = defaultDeny, upstreamProxy, resolve }: EgressOptions = {},
  onDecision?: OnEgressDecision,
): EgressGateway {
  return new EgressGateway({
    operator: { allowPrivate: allowPrivate.map(parsePattern), deny: deny.map(parsePattern) },
    upstreamProxy: upstreamProxy === undefined ? undefined : parseProxy(upstreamProxy),
    resolve,
    onDecision,
  });
}

function parsePattern(text: string): DestinationPattern {
  const pattern = DestinationPattern.parse(text);
  if (pattern) return pattern;
  throw new InvalidEgressError(
    `${JSON.stringify(text.slice(0, 80))} is not a valid destination. Write a name, *.name, an address or a range, and append :port to mean only that port.`,
  );
}

function parseProxy(text: string): URL {
  const url = parseUpstreamProxy(text);
  if (url) return url;
  throw new InvalidEgressError(
    "The upstream proxy must be given as an http: URL, such as http://proxy.internal:3128.",
  );
}
