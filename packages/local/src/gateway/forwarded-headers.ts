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

/** What is passed on to a sandbox: of credentials, only a token for this very sandbox. */
export function forwardedRequestHeaders(
  request: Pick<IncomingMessage, "headers">,
  sandboxId: string,
): Record<string, string | string[]> {
  const dropped = new Set((request.headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    // What frames the body stays, whatever the sender says of it.
    if (value === undefined || name === "expect" || (dropped.has(name) && name !== "content-length"))
      continue;
    if (connectionHeaders.has(name) || accountHeaders.has(name)) continue;
    if (name === "authorization" && subjectOf(bearerToken(value)) !== sandboxId) continue;
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

/** Whom a token says it is for. Whether that is true is for the agent to find out. */
export function subjectOf(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const subject = typeof claims === "object" && claims !== null && "sub" in claims ? claims.sub : undefined;
    return typeof subject === "string" ? subject : undefined;
  } catch {
    return undefined;
  }
}
