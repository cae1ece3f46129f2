import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";

/** Headers of one connection, not of the message (RFC 9110, section 7.6.1). */
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

/** Credentials for the account, which a sandbox must never see. */
export const accountHeaders = ["x-api-key", "x-api-secret"] as const;

/** What is passed on to a sandbox's agent: of credentials, only a token for this very sandbox. */
export function forwardedRequestHeaders(
  request: Pick<IncomingMessage, "headers">,
  sandboxId: string,
): Record<string, string | string[]> {
  const headers = messageHeaders(request);
  for (const name of [...accountHeaders, "cookie"]) delete headers[name];
  if (subjectOf(bearerToken(headers.authorization)) !== sandboxId) delete headers.authorization;
  return headers;
}

/** The headers of the message itself. */
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

/** The further headers that a `Connection` header says are of one connection, in lower case. */
export function namedByConnection(header: string): Set<string> {
  const names = header.toLowerCase().split(",");
  // What frames the body stays, whatever the sender says of it.
  return new Set(names.map((name) => name.trim()).filter((name) => name !== "content-length"));
}

/** What is passed on from a sandbox's agent, which shares its address with the control plane and all other agents. */
export function forwardedResponseHeaders(message: Pick<IncomingMessage, "headers">): OutgoingHttpHeaders {
  const headers = messageHeaders(message);
  for (const name of Object.keys(headers)) if (isOfTheAddress(name)) delete headers[name];
  return headers;
}

/** Headers that speak for everything at an address. Who may read it from a browser is the control plane's to say. */
export function isOfTheAddress(name: string): boolean {
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

/** Whom a token says it is for. Whether that is true is for the agent to find out. */
export function subjectOf(token: string): string | undefined {
  const { sub } = claimsOf(token);
  return typeof sub === "string" ? sub : undefined;
}

/** What a token claims; nothing where it is no token. */
export function claimsOf(token: string): { readonly iss?: unknown; readonly sub?: unknown } {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? claims : {};
  } catch {
    return {};
  }
}
