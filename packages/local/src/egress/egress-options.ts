import type { RequestedEgress } from "@cloud-sandbox/server-kit/handlers";
import type { NameResolver } from "../addresses/name-servers.js";
import { InvalidEgressError } from "../errors/local-errors.js";
import { DestinationPattern } from "./destination-pattern.js";
import { EgressGateway, type OnEgressTelling } from "./egress-gateway.js";
import type { OnEgressDecision } from "./sandbox-egress.js";
import type { CertificateAuthority } from "./secrets/certificate-authority.js";
import { parseUpstreamProxy, type UpstreamProxy, upstreamProxyVariable } from "./upstream-proxy.js";

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
   * URL of an HTTP proxy that this machine needs to reach the internet, for example `http://proxy.internal:3128` or
   * `http://user:password@proxy.internal:3128`. The proxy gets names and looks them up itself. Addresses are checked only if
   * the name can also be looked up on this machine, within a second. Destinations that `allowPrivate` has are connected to
   * directly. Default: that of CLOUD_SANDBOX_UPSTREAM_PROXY; other variables such as `HTTPS_PROXY` are not read.
   */
  readonly upstreamProxy?: string;
  /**
   * Looks up a name's addresses, all of which are checked. Default: asks the name servers of this machine; names that
   * `allowPrivate` has are looked up as the machine's programs do, with its hosts file and search domains.
   */
  readonly resolve?: NameResolver;
}

/** Port 25 is closed, because a sandbox that sends spam gets the host's address onto block lists. */
export const defaultDeny: readonly string[] = ["*:25"];

/** The egress gateway for an operator's options. @throws InvalidEgressError when an option is invalid. */
export function egressGateway(
  { allowPrivate = [], deny = defaultDeny, upstreamProxy, resolve }: EgressOptions = {},
  onDecision?: OnEgressDecision,
  authorities?: () => string,
  authority?: CertificateAuthority,
  onTelling?: OnEgressTelling,
): EgressGateway {
  const proxy = upstreamProxy ?? (process.env[upstreamProxyVariable] || undefined);
  return new EgressGateway({
    operator: { allowPrivate: allowPrivate.map(parsePattern), deny: deny.map(parsePattern) },
    upstreamProxy: proxy === undefined ? undefined : parseProxy(proxy),
    resolve,
    onDecision,
    authorities,
    authority,
    onTelling,
  });
}

function parsePattern(text: string): DestinationPattern {
  const pattern = DestinationPattern.parse(text);
  if (pattern) return pattern;
  throw new InvalidEgressError(
    `${JSON.stringify(text.slice(0, 80))} is not a valid destination. Write a name, *.name, an address or a range, and append :port to mean only that port.`,
  );
}

function parseProxy(text: string): UpstreamProxy {
  const proxy = parseUpstreamProxy(text.trim());
  if (proxy) return proxy;
  throw new InvalidEgressError(
    "The upstream proxy must be given as an http: URL, such as http://user:password@proxy.internal:3128. Encode / ? # @ and \\ in user and password, as %2F %3F %23 %40 and %5C. Proxies that are reached over https: or SOCKS cannot be used.",
  );
}

/** The environment variable with the default internet access: `on`, `off`, or `allow=` and destinations separated by commas. */
export const internetVariable = "CLOUD_SANDBOX_INTERNET";

/** The operator's default, from the option or the environment; else the contract's default, `on`. */
export function internetSetting(
  option: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): { readonly text: string; readonly egress: RequestedEgress } {
  const text = (option?.trim() || env[internetVariable]?.trim() || "on").toLowerCase();
  return { text, egress: parse(text) };
}

/** The egress of a sandbox whose create request does not set it. */
function parse(text: string): RequestedEgress {
  if (text === "on" || text === "off") return { internetAccess: text === "on" };
  const [, list] = /^allow=(.+)$/.exec(text) ?? [];
  const allow = list?.split(",").map((entry) => entry.trim()) ?? [];
  const isList = allow.length > 0 && allow.every((entry) => DestinationPattern.parse(entry));
  if (isList) return { internetAccess: true, allow };
  throw new InvalidEgressError(
    `${JSON.stringify(text.slice(0, 80))} is not a valid value for --internet or ${internetVariable}. Write on, off, or allow= and destinations separated by commas, as in allow=pypi.org,*.pythonhosted.org:443.`,
  );
}
