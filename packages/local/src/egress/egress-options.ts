import { InvalidEgressError } from "../errors/local-errors.js";
import { DestinationPattern } from "./destination-pattern.js";
import { EgressGateway } from "./egress-gateway.js";
import type { NameResolver } from "./name-resolver.js";
import { parseUpstreamProxy } from "./upstream-proxy.js";

/** What sandboxes with internet access may reach. */
export interface EgressOptions {
  /**
   * Destinations that sandboxes with `internet_access` may reach although they are in private, loopback or other ranges that
   * are not of the public internet: `127.0.0.1:8080`, `registry.internal:443`, `10.1.0.0/16`. Default: none.
   */
  readonly allowPrivate?: readonly string[];
  /** Destinations that no sandbox may reach, in the same form. Default: `*:25`, so that none sends mail. */
  readonly deny?: readonly string[];
  /**
   * URL of an HTTP proxy through which alone this machine reaches the internet, such as `http://proxy.internal:3128`. It is
   * asked by name; addresses are checked as they are seen from here, and not at all where names cannot be looked up here.
   * Default: none; the proxy variables of this process are not read.
   */
  readonly upstreamProxy?: string;
  /** Looks up a name's addresses, all of which are checked. Default: asks the name servers of this machine. */
  readonly resolve?: NameResolver;
}

/** Mail is not what sandboxes are for, and what a host is known for soon. */
export const defaultDeny: readonly string[] = ["*:25"];

/** The proxy that an operator asks for; throws an InvalidEgressError that names what is wrong. */
export function egressGateway({
  allowPrivate = [],
  deny = defaultDeny,
  upstreamProxy,
  resolve,
}: EgressOptions = {}): EgressGateway {
  return new EgressGateway({
    operator: { allowPrivate: allowPrivate.map(parsePattern), deny: deny.map(parsePattern) },
    upstreamProxy: upstreamProxy === undefined ? undefined : parseProxy(upstreamProxy),
    resolve,
  });
}

function parsePattern(text: string): DestinationPattern {
  const pattern = DestinationPattern.parse(text);
  if (pattern) return pattern;
  throw new InvalidEgressError(
    `${JSON.stringify(text.slice(0, 80))} is no destination. Write a name, *.name, an address or a range, each with :port if only that one is meant.`,
  );
}

function parseProxy(text: string): URL {
  const url = parseUpstreamProxy(text);
  if (url) return url;
  throw new InvalidEgressError("The upstream proxy is an http: URL, such as http://proxy.internal:3128.");
}
