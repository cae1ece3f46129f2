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
  /** What a client without an accepted token is told to send. */
  readonly tokenAdvice: string;
}

export class RequestChecks {
  readonly #hosts: string[];
  readonly #origins: string[];
  readonly #tokens: RequestCheckOptions["tokens"];
  readonly #tokenAdvice: string;

  constructor({ host, allowedHosts, allowedOrigins, tokens, tokenAdvice }: RequestCheckOptions) {
    const ownNames = isLoopback(host) ? [host] : namesOfThisMachine();
    this.#hosts = [...localhostAllowedHostnames(), ...[...ownNames, ...allowedHosts].map(asInUrl)];
    this.#origins = [...localhostAllowedHostnames(), ...allowedHosts.map(asInUrl), ...allowedOrigins];
    this.#tokens = tokens;
    this.#tokenAdvice = tokenAdvice;
  }

  /** The digest of the request's token, or why the request is refused. */
  check({ headers }: IncomingMessage): { readonly tokenDigest: string } | Refusal {
    if (!validateHostHeader(headers.host, this.#hosts).ok)
      return refused(403, "the Host header is not a name of this server; --allowed-host adds names");
    if (!validateOriginHeader(headers.origin, this.#origins).ok)
      return refused(403, "web pages of this Origin may not call this server; --allowed-origin adds origins");
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

function namesOfThisMachine(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  return [hostname(), ...addresses.map(({ address }) => address)];
}

/** A host in the form of a URL's `hostname`: IPv6 in brackets, names in lower case. */
function asInUrl(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host.toLowerCase();
}
