import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";

/** Headers that describe one connection and are not forwarded with the message (RFC 9110, section 7.6.1). */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers with the account's credentials, which a sandbox must never see. */
export const accountHeaders = ["x-api-key", "x-api-secret"] as const;

/** The headers forwarded to a sandbox's agent. The only credential among them is a token for this sandbox. */
export function forwardedRequestHeaders(
  request: Pick<IncomingMessage, "headers">,
  sandboxId: string,
): Record<string, string | string[]> {
  const headers = messageHeaders(request);
  for (const name of [...accountHeaders, "cookie"]) delete headers[name];
  if (subjectOf(bearerToken(headers.authorization)) !== sandboxId) delete headers.authorization;
  return headers;
}

/** The headers of a message without those that describe the connection. */
export function messageHeaders({
  headers,
}: Pick<IncomingMessage, "headers">): Record<string, string | string[]> {
  const dropped = namedByConnection(headers.connection ?? "");
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === "expect" || dropped.has(name) || connectionHeaders.has(name))
      continue;
    kept[name] = value;
  }
  return kept;
}

/** The headers that a `Connection` header declares to belong to this connection, in lower case. */
export function namedByConnection(header: string): Set<string> {
  const names = header.toLowerCase().split(",");
  // Content-Length stays even if the sender lists it: without it, the body would be read as the next request.
  return new Set(names.map((name) => name.trim()).filter((name) => name !== "content-length"));
}

/**
 * Removes hop-by-hop headers from raw headers (names and values in turn): the standard ones, those that `Connection`
 * names, and those in `more`.
 */
export function withoutHopByHop(rawHeaders: readonly string[], more: readonly string[] = []): string[] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
  );
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => [...namedByConnection(value)]);
  const dropped = new Set([...connectionHeaders, ...named, ...more]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

/** The headers forwarded from a sandbox's agent. Agents and control plane share an origin, so headers that apply to the whole origin are dropped. */
export function forwardedResponseHeaders(message: Pick<IncomingMessage, "headers">): OutgoingHttpHeaders {
  const headers = messageHeaders(message);
  for (const name of Object.keys(headers)) if (isOriginWide(name)) delete headers[name];
  return headers;
}

/** Whether a response header applies to the whole origin. CORS headers do: only the control plane decides which pages may call it. */
export function isOriginWide(name: string): boolean {
  return (
    name === "set-cookie" ||
    name === "set-cookie2" ||
    name === "alt-svc" ||
    name === "accept-ch" ||
    name === "nel" ||
    name === "report-to" ||
    name === "clear-site-data" ||
    name === "service-worker-allowed" ||
    name === "strict-transport-security" ||
    name.startsWith("access-control-")
  );
}

/** The id of the sandbox that a token claims to be for. The token is not verified here, because the agent verifies it. */
export function subjectOf(token: string): string | undefined {
  const { sub } = claimsOf(token);
  return typeof sub === "string" ? sub : undefined;
}

/** The unverified claims of a token; `{}` if the text is not a token. */
export function claimsOf(token: string): {
  readonly iss?: unknown;
  readonly sub?: unknown;
  readonly exp?: unknown;
  readonly key?: unknown;
} {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? claims : {};
  } catch {
    return {};
  }
}
