import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidOriginError } from "../errors/local-errors.js";

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
const requestHeaders =
  "Authorization, Content-Type, Idempotency-Key, Range, traceparent, tracestate, X-API-Key, X-Request-ID";
const responseHeaders =
  "Content-Disposition, Content-Range, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-ID";
const preflightSeconds = 600;

/**
 * Lets pages of other sites' origins call the APIs from a browser: those that are named, and no others. Callers show who they are
 * by a header that their page has to know, never by a cookie, so credentials of the browser's own are not allowed.
 */
export class CrossOriginAccess {
  readonly #origins: ReadonlySet<string>;

  /** @throws InvalidOriginError when one is not written as browsers send it. */
  constructor(origins: readonly string[]) {
    for (const origin of origins) if (!isOrigin(origin)) throw new InvalidOriginError(origin);
    this.#origins = new Set(origins);
  }

  /** Says in an answer to come who may read it. A browser's question whether it may ask is answered here: then true. */
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

/** As browsers send it: scheme, host, and port where it is not the scheme's own. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*,]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return text === `${protocol}//${host}`;
}
