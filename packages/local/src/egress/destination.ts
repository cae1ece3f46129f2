import { isIPv6 } from "node:net";

/** Where a program wants to go. */
export interface Destination {
  /** A name in lower case without a final dot, or an address; in one spelling for every way there is to write it. */
  readonly host: string;
  readonly port: number;
}

const longestHost = 253;
const hasDelimiter = /[\s/?#@\\%:[\]]/;

/**
 * The host as the URL standard writes it: `0x7f.1`, `2130706433` and `0177.0.0.1` all become `127.0.0.1`, so that what is
 * checked is what is connected to. Undefined for what is no host.
 */
export function canonicalHost(text: string): string | undefined {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const isAddress6 = isIPv6(bracketed) && !bracketed.includes("%");
  if (!isAddress6 && hasDelimiter.test(text)) return undefined;
  const url = parseUrl(`http://${isAddress6 ? `[${bracketed}]` : text}/`);
  const host = url?.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "") ?? "";
  // A second final dot would make another spelling of the same name.
  const hasEmptyLabel = host.split(".").includes("");
  return hasEmptyLabel || host.length > longestHost ? undefined : host;
}

/** Undefined for what is no destination. */
export function parseDestination(host: string, port: number): Destination | undefined {
  const canonical = canonicalHost(host);
  if (canonical === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return { host: canonical, port };
}

/** Reads `host:port` or `[address]:port`. Without a port it is `defaultPort`, if there is one. */
export function parseAuthority(text: string, defaultPort?: number): Destination | undefined {
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return parseDestination(host, port === undefined ? (defaultPort ?? 0) : Number(port));
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
