/** Checks the Host, Origin and token of HTTP requests, before the protocol reads them. */
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

export interface RequestCheckOptions {
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
    if (!validateHostHeader(headers.host, this.#hosts).ok)
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
