import { isIPv6 } from "node:net";

/** The host and port that a program in a sandbox wants to connect to. */
export interface Destination {
  /** A name in lower case without a final dot, or an address. Always in canonical spelling: see {@link canonicalHost}. */
  readonly host: string;
  readonly port: number;
}

const longestHost = 253;
const hasDelimiter = /[\s/?#@\\%:[\]]/;

/**
 * The host in the URL standard's spelling: `0x7f.1`, `2130706433` and `0177.0.0.1` all become `127.0.0.1`. So the host that
 * the policy checks is the host that is connected to. Undefined if the text is not a host.
 */
export function canonicalHost(text: string): string | undefined {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress6 = isIPv6(bracketed) && !bracketed.includes("%");
  if (!isAddress6 && hasDelimiter.test(text)) return undefined;
  const url = parseUrl(`http://${isAddress6 ? `[${bracketed}]` : text}/`);
  const host = url?.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "") ?? "";
  // Two final dots would be a second spelling of the same name, which the lists would not match.
  const hasEmptyLabel = host.split(".").includes("");
  return hasEmptyLabel || host.length > longestHost ? undefined : host;
}

/** The destination; undefined if host or port is invalid. */
export function parseDestination(host: string, port: number): Destination | undefined {
  const canonical = canonicalHost(host);
  if (canonical === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return { host: canonical, port };
}

/** The names by which people know the machine that their containers run on. */
const hostAliases: ReadonlySet<string> = new Set(["host.docker.internal", "host.containers.internal"]);

/** Whether a name means the machine that the sandboxes run on. */
export const isHostAlias = (host: string): boolean => hostAliases.has(host);

/** Parses `host:port` or `[address]:port`. A missing port becomes `defaultPort`; without that the text is invalid. */
export function parseAuthority(text: string, defaultPort?: number): Destination | undefined {
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return parseDestination(host, port === undefined ? (defaultPort ?? 0) : Number(port));
}

/** The destination as `host:port` or `[address]:port`. */
export const authorityOf = ({ host, port }: Destination): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Why a connection could not be made. The message is sent to the program in the sandbox. */
export class EgressProblem extends Error {
  override readonly name = "EgressProblem";

  constructor(
    readonly kind: "malformed" | "refused" | "unresolvable" | "unreachable" | "timeout" | "exhausted",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
