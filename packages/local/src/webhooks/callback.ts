import { validateHeaderName, validateHeaderValue } from "node:http";
import { isIP } from "node:net";
import { webhookHeaders } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { isPublicAddress } from "../addresses/public-address.js";

/** Where and how the end of an execution is reported. Never log a callback: any part of it may be secret. */
export interface Callback {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string | undefined;
}

/** Bytes of all callback headers together: the limit of most servers for the headers of a request. */
const maxHeaderBytes = 16 * 1024;

/** Headers that a caller may not set: they frame the request, belong to the connection, or are set by the control plane. */
const reservedHeaders = new Set([
  ...["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"],
  ...["transfer-encoding", "content-length", "content-encoding", "expect", "host"],
  ...Object.values(webhookHeaders).map((name) => name.toLowerCase()),
]);

/** The callback of a request. @throws a 400 problem when the callback is invalid. */
export function parseCallback(
  asked: {
    readonly callback_url: string;
    readonly callback_headers?: Readonly<Record<string, string>> | null | undefined;
    readonly callback_signature_secret?: string | null | undefined;
  },
  allowPrivateAddresses: boolean,
  /** The name that the request has for the URL. */
  field = "callback_url",
): Callback {
  const url = parseUrl(asked.callback_url, field);
  if (!allowPrivateAddresses && isPrivateHost(url)) {
    throw invalid(
      field,
      "must have a public address: the control plane sends nothing to private ones unless it was started with --webhook-allow-private",
    );
  }
  const headers = asked.callback_headers ?? {};
  checkHeaders(headers);
  return { url: url.href, headers, secret: asked.callback_signature_secret || undefined };
}

/** Whether a URL's host is a private address or `localhost`. Other names are checked when they are resolved. */
export function isPrivateHost({ hostname }: URL): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0) return !isPublicAddress(address);
  return /(^|\.)localhost\.?$/.test(hostname);
}

function parseUrl(text: string, field: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw invalid(field, "must be an http or https URL");
  }
  if (!isDecodable(url.username) || !isDecodable(url.password))
    throw invalid(field, "must have %25 in place of each % in its user name and password");
  url.hash = "";
  return url;
}

/** Whether a part of a URL can be sent in a header, for which it is decoded. */
function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const field = `callback_headers.${JSON.stringify(name.slice(0, 80))}`;
    if (!isHeader(name, value)) throw invalid(field, "is not a valid HTTP header");
    if (reservedHeaders.has(name.toLowerCase()))
      throw invalid(field, "is set by the control plane: leave it out");
    bytes += name.length + value.length;
  }
  if (bytes > maxHeaderBytes)
    throw invalid("callback_headers", `must have at most ${maxHeaderBytes} bytes in all`);
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

const invalid = (field: string, expectation: string): Problem =>
  new Problem(400, "INVALID_REQUEST", `${field} ${expectation}.`, { details: { field } });
