import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { tokenIssuer } from "@cloud-sandbox/protocol";
import { bearerToken } from "@cloud-sandbox/server-kit/handlers";
import { accountHeaders, claimsOf, isOriginWide, messageHeaders } from "../relay/forwarded-headers.js";
import type { PreviewTarget } from "./preview-target.js";

/** What is passed on to a server in a sandbox: its visitors' own headers, none that opens anything of the account's. */
export function previewRequestHeaders(
  request: IncomingMessage,
  { prefix }: PreviewTarget,
  isAccountKey: (text: string) => boolean,
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
  // All previews by path, and whatever else there is on this host, share their cookies.
  if (prefix !== "") delete headers.cookie;
  return {
    ...headers,
    ...(headers.host !== undefined && { "x-forwarded-host": headers.host }),
    "x-forwarded-proto": "http",
    ...(prefix !== "" && { "x-forwarded-prefix": prefix }),
  };
}

/** What is passed on from it. A preview by path is not alone at its address. */
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
  if (message.headers.location !== undefined) {
    headers.location = belowPrefix(message.headers.location, prefix, [
      host,
      `localhost:${port}`,
      `127.0.0.1:${port}`,
    ]);
  }
  return headers;
}

/** A cookie stays with the one host that set it. */
const withoutDomain = (cookie: string): string => cookie.replace(/;\s*domain\s*=[^;]*/gi, "");

/** Where a redirect to the server's own root leads, seen from outside. */
function belowPrefix(location: string, prefix: string, ownHosts: readonly (string | undefined)[]): string {
  const [, host, rest = ""] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/i.exec(location) ?? [];
  const path =
    host === undefined ? location : ownHosts.includes(host) ? `/${rest.replace(/^\//, "")}` : undefined;
  if (path === undefined || !path.startsWith("/")) return location;
  const isBelow = path === prefix || path.startsWith(`${prefix}/`);
  return isBelow ? path : prefix + path;
}
