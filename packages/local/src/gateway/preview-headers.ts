import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { tokenIssuer } from "@cloud-sandbox/protocol";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { accountHeaders, claimsOf, isOriginWide, messageHeaders } from "../relay/forwarded-headers.js";
import type { PreviewTarget } from "./preview-target.js";

/** The headers forwarded to a server in a sandbox: the visitor's, without the account's credentials. */
export function previewRequestHeaders(
  request: IncomingMessage,
  { prefix }: PreviewTarget,
  isAccountKey: (text: string) => boolean,
  protocol: "http" | "https" = "http",
): OutgoingHttpHeaders {
  const headers = messageHeaders(request);
  for (const name of accountHeaders) delete headers[name];
  for (const name of Object.keys(headers)) {
    if (name === "forwarded" || name.startsWith("x-forwarded-")) delete headers[name];
  }
  const token = bearerToken(headers.authorization);
  if (token !== "" && (isAccountKey(token) || claimsOf(token).iss === tokenIssuer)) {
    delete headers.authorization;
  }
  // Previews by path share one origin, so a browser sends cookies and passwords that belong to another sandbox.
  if (prefix !== "") {
    delete headers.cookie;
    if (/^(basic|digest|negotiate|ntlm)\b/i.test(String(headers.authorization))) delete headers.authorization;
  }
  return {
    ...headers,
    ...(headers.host !== undefined && { "x-forwarded-host": headers.host }),
    "x-forwarded-proto": protocol,
    ...(prefix !== "" && { "x-forwarded-prefix": prefix }),
  };
}

/** The headers forwarded from a server in a sandbox. Previews by path share one origin, so their headers that apply to a whole origin are dropped. */
export function previewResponseHeaders(
  message: IncomingMessage,
  { prefix, port }: PreviewTarget,
  host: string | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = messageHeaders(message);
  if (prefix === "") {
    if (message.headers["set-cookie"])
      headers["set-cookie"] = message.headers["set-cookie"].map(withoutDomain);
    return headers;
  }
  for (const name of Object.keys(headers)) {
    if (isOriginWide(name) && !name.startsWith("access-control-")) delete headers[name];
  }
  // The browser would keep the password for all of them.
  delete headers["www-authenticate"];
  headers["content-security-policy"] = [ownOrigin, message.headers["content-security-policy"] ?? []]
    .flat()
    .join(", ");
  if (message.headers.location !== undefined) {
    headers.location = belowPrefix(message.headers.location, prefix, [
      host,
      `localhost:${port}`,
      `127.0.0.1:${port}`,
    ]);
  }
  return headers;
}

/** Gives a page an origin that no other page has, so that it reads nothing of other previews: no storage, no cookies, no answers. */
const ownOrigin = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/** Removes `Domain`, so that the cookie applies only to the host that set it. */
const withoutDomain = (cookie: string): string => cookie.replace(/;\s*domain\s*=[^;]*/gi, "");

/** Rewrites a redirect to the server's own host so that it stays below the preview's path. */
function belowPrefix(location: string, prefix: string, ownHosts: readonly (string | undefined)[]): string {
  const [, host, rest = ""] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/i.exec(location) ?? [];
  const path =
    host === undefined ? location : ownHosts.includes(host) ? `/${rest.replace(/^\//, "")}` : undefined;
  if (path === undefined || !path.startsWith("/")) return location;
  const isBelow = path === prefix || path.startsWith(`${prefix}/`);
  return isBelow ? path : prefix + path;
}
