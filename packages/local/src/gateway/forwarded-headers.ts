import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

/** Headers of one connection, not of the message (RFC 9110, section 7.6.1). */
const connectionHeaders = new Set([
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
const accountHeaders = new Set(["x-api-key", "x-api-secret", "cookie"]);

export function forwardedRequestHeaders(
  request: IncomingMessage,
  isAccountKey: (key: string) => boolean,
): Record<string, string | string[]> {
  const dropped = new Set((request.headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name === "expect" || dropped.has(name)) continue;
    if (connectionHeaders.has(name) || accountHeaders.has(name)) continue;
    if (name === "authorization" && isAccountKey(bearerToken(value))) continue;
    headers[name] = value;
  }
  return headers;
}

export function forwardedResponseHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): OutgoingHttpHeaders {
  const forwarded: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    // Cookies would be the control plane's, whose host the agents share.
    if (value !== undefined && !connectionHeaders.has(name) && name !== "set-cookie") forwarded[name] = value;
  }
  return forwarded;
}

/** The token of an `Authorization: Bearer` header, or an empty string. */
export function bearerToken(header: string | string[] | undefined): string {
  const value = Array.isArray(header) ? header[0] : header;
  return /^Bearer\s+(\S+)\s*$/i.exec(value ?? "")?.[1] ?? "";
}
