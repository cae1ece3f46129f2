import { InvalidEgressError } from "../local-errors.js";
import { DestinationPattern } from "./destination-pattern.js";
import type { OperatorRules } from "./egress-policy.js";
import type { NameResolver } from "./name-resolver.js";

export interface EgressOptions {
  /**
   * Destinations that sandboxes with `internet_access` may reach although they are in private, loopback or other ranges that
   * are not of the public internet: `127.0.0.1:8080`, `registry.internal:443`, `10.1.0.0/16`. Default: none.
   */
  readonly allowPrivate?: readonly string[];
  /** Destinations that no sandbox may reach, in the same form. Default: `*:25`, so that none sends mail. */
  readonly deny?: readonly string[];
  /** Looks up a name's addresses, all of which are checked. Default: asks the name servers of this machine. */
  readonly resolve?: NameResolver;
}

/** Mail is not what sandboxes are for, and what a host is known for soon. */
export const defaultDeny: readonly string[] = ["*:25"];

/** The operator's rules; throws an InvalidEgressError that names the entry which is no destination. */
export function operatorRules({ allowPrivate = [], deny = defaultDeny }: EgressOptions = {}): OperatorRules {
  const parse = (text: string): DestinationPattern => {
    const pattern = DestinationPattern.parse(text);
    if (!pattern) throw new InvalidEgressError(text);
    return pattern;
  };
  return { allowPrivate: allowPrivate.map(parse), deny: deny.map(parse) };
}
