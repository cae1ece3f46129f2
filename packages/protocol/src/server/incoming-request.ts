import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** What is read of a request; as a stream, it is its body. */
export type IncomingRequest = Readable & Pick<IncomingMessage, "method" | "url" | "headers">;

/** A request's header; of those that came more than once, all in one. */
export function headerOf({ headers }: IncomingRequest, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The two parts of a request's target. Proxies' clients send it with scheme and host. */
export function targetOf({ url = "/" }: IncomingRequest): { path: string; query: string } {
  const target = url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const end = target.search(/[?#]/);
  if (end === -1) return { path: target || "/", query: "" };
  const query = target[end] === "?" ? target.slice(end + 1).replace(/#.*$/s, "") : "";
  return { path: target.slice(0, end) || "/", query };
}
