import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidOriginError } from "../errors/local-errors.js";

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
