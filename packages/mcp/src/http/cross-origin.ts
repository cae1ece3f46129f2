/** Answers that browsers need before a web page may call this server and read its answers (CORS). */
import type { IncomingMessage } from "node:http";

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
