/** Checks the Host, Origin and token of HTTP requests, and answers what browsers ask first (CORS), before the protocol reads them. */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { hostname, networkInterfaces } from "node:os";
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { BearerTokens } from "./bearer-tokens.js";

/** The answer to a request that is refused. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface RequestCheckOptions {
  /** The address that the server listens on. */
  readonly host: string;
  /** Further host names that requests may have in their Host header. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call this server, in addition to those of this machine. */
  readonly allowedOrigins: readonly string[];
  readonly tokens: Pick<BearerTokens, "tokenDigest">;
  /** The advice for a client without an accepted token. */
  readonly tokenAdvice: string;
}

export class RequestChecks {
  readonly #hosts: string[];
  readonly #origins: string[];
  readonly #wholeOrigins: ReadonlySet<string>;
  readonly #tokens: RequestCheckOptions["tokens"];
  readonly #tokenAdvice: string;

  constructor({ host, allowedHosts, allowedOrigins, tokens, tokenAdvice }: RequestCheckOptions) {
    const ownNames = isLoopback(host) ? [host] : namesOfThisMachine();
    this.#hosts = [...localhostAllowedHostnames(), ...[...ownNames, ...allowedHosts].map(asInUrl)];
    this.#origins = [...localhostAllowedHostnames(), ...[...allowedHosts, ...allowedOrigins].map(asInUrl)];
    this.#wholeOrigins = new Set(allowedOrigins.map(originOf).filter((origin) => origin !== undefined));
    this.#tokens = tokens;
    this.#tokenAdvice = tokenAdvice;
  }

  /** Why a request is refused by its Host or its Origin, whatever token it has. */
  refusal({ headers }: IncomingMessage): Refusal | undefined {
    if (!namesOnlyAHost.test(headers.host ?? "") || !validateHostHeader(headers.host, this.#hosts).ok)
      return refused(403, "the Host header is not a name of this server; --allowed-host adds names");
    const { origin = "" } = headers;
    if (!this.#wholeOrigins.has(origin) && !validateOriginHeader(origin, this.#origins).ok)
      return refused(403, "web pages of this Origin may not call this server; --allowed-origin adds origins");
    return undefined;
  }

  /** The digest of the request's token, or why the request is refused. */
  token({ headers }: IncomingMessage): { readonly tokenDigest: string } | Refusal {
    const tokenDigest = this.#tokens.tokenDigest(headers.authorization);
    if (tokenDigest !== undefined) return { tokenDigest };
    return refused(401, this.#tokenAdvice, { "www-authenticate": "Bearer" });
  }
}

/** Matches a host without what a URL can have around it, such as a user's name, which the check of the SDK reads past. */
const namesOnlyAHost = /^[^@/?#\\]+$/;

export function refused(status: number, reason: string, headers: Record<string, string> = {}): Refusal {
  return { status, message: `${STATUS_CODES[status]}: ${reason}.`, headers };
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The origin that a URL is of. Undefined for a host name. */
function originOf(allowed: string): string | undefined {
  if (!allowed.includes("://")) return undefined;
  const origin = URL.canParse(allowed) ? new URL(allowed).origin : "null";
  // URLs of extensions have no origin in the sense of the URL standard; browsers send what stands before the path.
  return origin === "null" ? allowed.replace(/\/$/, "") : origin;
}

function namesOfThisMachine(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  return [hostname(), ...addresses.map(({ address }) => address)];
}

/** A host in the form of a URL's `hostname`: IPv6 in brackets, names in lower case. */
function asInUrl(host: string): string {
  if (host.includes("://")) return host;
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host.toLowerCase();
}

/** Headers of MCP and of authorization that pages send, beside those that they name when they ask. */
const sent = [
  "authorization",
  "content-type",
  "mcp-protocol-version",
  "mcp-session-id",
  "mcp-method",
  "mcp-name",
  "last-event-id",
];
/** Headers of answers that pages read. */
const read = ["Mcp-Session-Id", "WWW-Authenticate", "Retry-After"];

/** The headers of every answer to a page whose origin may call this server. A request without an origin is of no page. */
export function crossOriginHeaders({ headers: { origin } }: IncomingMessage): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": read.join(", "),
    vary: "Origin",
  };
}

/** Whether a browser asks what a page may send. It asks without the page's token. */
export function isPreflight({ headers, method }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** The headers of the answer to a preflight. A page may send any header: what it can do depends on its token. */
export function preflightHeaders(
  { headers }: IncomingMessage,
  methods: readonly string[],
): Record<string, string> {
  const asked = (headers["access-control-request-headers"] ?? "").split(",").map((name) => name.trim());
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": [...new Set([...sent, ...asked])]
      .filter((name) => name !== "")
      .join(", "),
    "access-control-max-age": "7200",
  };
}
