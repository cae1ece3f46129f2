import type { IncomingMessage, ServerResponse } from "node:http";
import { isIPv4 } from "node:net";
import { Problem } from "@cloud-sandbox/server-kit";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { InvalidOriginError } from "../errors/local-errors.js";
import { claimsOf } from "../relay/forwarded-headers.js";
import type { KeyRing } from "../tokens/key-ring.js";

/**
 * Refuses requests with an unknown `Host` header, against DNS rebinding: a hostile site can point its own name to loopback,
 * and its pages then share an origin with this server. Such requests differ from others only in the `Host` header.
 */
export class HostGuard {
  readonly #allowed: ReadonlySet<string>;
  readonly #isOpen: boolean;

  constructor(listenHost: string, allowedHosts: readonly string[] = []) {
    this.#allowed = new Set([listenHost, ...allowedHosts].map((host) => host.toLowerCase()));
    // A server that other machines reach cannot know all its names, so any name is accepted; the API key protects it.
    this.#isOpen = !isLoopback(listenHost) && allowedHosts.length === 0;
  }

  /** The problem that refuses a request with this `Host` header; undefined if the request is accepted. */
  refusal(header: string | undefined): Problem | undefined {
    if (this.#isOpen || header === undefined) return undefined;
    const host = header
      .replace(/:\d*$/, "")
      .replace(/^\[(.*)\]$/, "$1")
      .toLowerCase();
    if (isLoopback(host) || this.#allowed.has(host)) return undefined;
    const message = "The Host header names a host that this server does not accept.";
    return new Problem(403, "FORBIDDEN", message, {
      hint: "Use the server's address, or allow the name with --allowed-host.",
    });
  }
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
  return isIPv4(host) && host.startsWith("127.");
}

/**
 * Refuses sandbox tokens whose API key was revoked or has expired. The agent, which verifies tokens, does not know the keys.
 * The claim is not verified here: a token with a changed claim is refused by the agent.
 */
export class KeyGuard {
  constructor(private readonly keys: Pick<KeyRing, "isUsable" | "requireUsable">) {}

  /** Whether the key with this id may still be used. */
  allows(keyId: string): boolean {
    return this.keys.isUsable(keyId);
  }

  /** The problem that refuses a request for an agent; undefined if the request may pass. */
  refusal({ headers }: Pick<IncomingMessage, "headers">): Problem | undefined {
    const { key } = claimsOf(bearerToken(headers.authorization));
    if (typeof key !== "string") return undefined;
    try {
      this.keys.requireUsable(key);
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }
}

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
const requestHeaders =
  "Authorization, Content-Type, Idempotency-Key, Range, traceparent, tracestate, X-API-Key, X-Request-ID";
const responseHeaders =
  "Content-Disposition, Content-Range, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-ID";
const preflightSeconds = 600;

/**
 * CORS: lets pages of the listed origins call the APIs from a browser. Callers authenticate by a header that the page sets,
 * never by a cookie, so `Access-Control-Allow-Credentials` is not sent.
 */
export class CrossOriginAccess {
  readonly #origins: ReadonlySet<string>;

  /** @throws InvalidOriginError when an origin is not written as browsers send it. */
  constructor(origins: readonly string[]) {
    for (const origin of origins) if (!isOrigin(origin)) throw new InvalidOriginError(origin);
    this.#origins = new Set(origins);
  }

  /** Sets the CORS headers of the response. Answers a preflight request itself and returns true then. */
  answers(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#origins.size === 0) return false;
    const { origin, "access-control-request-method": wanted } = request.headers;
    response.appendHeader("Vary", "Origin");
    if (origin === undefined || !this.#origins.has(origin)) return false;
    response.setHeader("Access-Control-Allow-Origin", origin);
    response.setHeader("Access-Control-Expose-Headers", responseHeaders);
    if (request.method !== "OPTIONS" || wanted === undefined) return false;
    response.writeHead(204, {
      "Access-Control-Allow-Methods": methods,
      "Access-Control-Allow-Headers": requestHeaders,
      "Access-Control-Max-Age": preflightSeconds,
    });
    response.end();
    return true;
  }
}

/** Whether the text is an origin as browsers send it: scheme, host, and the port unless it is the scheme's default. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*,]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return text === `${protocol}//${host}`;
}
