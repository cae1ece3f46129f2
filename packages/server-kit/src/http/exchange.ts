import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** What is read of a request, whatever it came over. Iterated, it is its body. */
export interface ServedRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  /** The target: path and query. */
  readonly url?: string | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What requests and streamed answers are, where a contract is served. */
export interface Exchange {
  readonly request: ServedRequest;
  readonly stream: AsyncIterable<unknown>;
}

/** A request of node:http's, or what looks like one; as a stream, it is its body. */
export type IncomingRequest = Readable & Pick<IncomingMessage, "method" | "url" | "headers">;

/** Where it is served by node:http. */
export interface NodeExchange {
  readonly request: IncomingRequest;
  readonly stream: Readable;
}

/** What an answer may carry there. */
export type ReplyBody<Over extends Exchange> = string | Uint8Array | Over["stream"] | undefined;

/** A request's header; of those that came more than once, all in one. */
export function headerOf({ headers }: Pick<ServedRequest, "headers">, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A request's target as servers are sent it: path and query. Proxies' clients send it with scheme and host, some with a fragment. */
export function originForm({ url = "/" }: Pick<ServedRequest, "url">): string {
  const bare = url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const [target = ""] = bare.split("#", 1);
  return target === "" || target.startsWith("?") ? `/${target}` : target;
}

/** The two parts of a request's target. */
export function targetOf(request: Pick<ServedRequest, "url">): { path: string; query: string } {
  const target = originForm(request);
  const end = target.indexOf("?");
  return end === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, end), query: target.slice(end + 1) };
}
