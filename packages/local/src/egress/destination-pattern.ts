import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { canonicalHost, type Destination } from "./destination.js";

type Subnet = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * One entry of an allow or deny list: `pypi.org`, `*.npmjs.org` (every name below, not the domain itself),
 * `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`, or `*`; each with `:port` for that port only.
 */
export class DestinationPattern {
  private constructor(
    readonly text: string,
    private readonly host: string | { readonly below: string } | { readonly subnet: Subnet } | undefined,
    private readonly port: number | undefined,
  ) {}

  /** Parses an entry; undefined if the text is not a valid one. */
  static parse(text: string): DestinationPattern | undefined {
    const isBare6 = ipaddr.IPv6.isValid(text) || ipaddr.IPv6.isValidCIDR(text);
    const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
    const host = isBare6 ? text : (bracketed ?? plain);
    const port = digits === undefined ? undefined : Number(digits);
    if (host === undefined || port === 0 || (port ?? 1) > 65_535) return undefined;
    if (host === "*") return new DestinationPattern(text, undefined, port);
    if (ipaddr.isValidCIDR(host))
      return new DestinationPattern(text, { subnet: ipaddr.parseCIDR(host) }, port);
    const below = /^\*\.(.+)$/.exec(host)?.[1];
    const canonical = canonicalHost(below ?? host);
    if (canonical === undefined || canonical.includes("*")) return undefined;
    const family = isIP(canonical);
    if (below !== undefined) {
      return family === 0 ? new DestinationPattern(text, { below: `.${canonical}` }, port) : undefined;
    }
    if (family === 0) return new DestinationPattern(text, canonical, port);
    const subnet = ipaddr.parseCIDR(`${canonical}/${family === 4 ? 32 : 128}`);
    return new DestinationPattern(text, { subnet }, port);
  }

  /** Whether the pattern matches addresses, so that a name must be resolved before it can be checked. */
  get isSubnet(): boolean {
    return typeof this.host === "object" && "subnet" in this.host;
  }

  /** Whether the pattern is a name, or all names below one. */
  get isName(): boolean {
    return this.host !== undefined && !this.isSubnet;
  }

  matchesName({ host, port }: Destination): boolean {
    if (!this.#isFor(port)) return false;
    if (this.host === undefined) return true;
    if (typeof this.host === "string") return host === this.host;
    return "below" in this.host && host.endsWith(this.host.below);
  }

  matchesAddress(address: string, port: number): boolean {
    if (!this.#isFor(port) || typeof this.host !== "object" || !("subnet" in this.host)) return false;
    const [base] = this.host.subnet;
    const parsed = ipaddr.parse(address);
    return parsed.kind() === base.kind() && parsed.match(this.host.subnet);
  }

  #isFor(port: number): boolean {
    return this.port === undefined || this.port === port;
  }
}
