import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** The parts of a request that servers need, whatever transport it came over. Iterating it yields its body. */
export interface ServedRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  /** The request target: path and query. */
  readonly url?: string | undefined;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The types of requests and of streamed answers on one kind of server. */
export interface Exchange {
  readonly request: ServedRequest;
  readonly stream: AsyncIterable<unknown>;
}

/** A request of node:http, or an object with the same fields. As a stream, it yields the request's body. */
export type IncomingRequest = Readable & Pick<IncomingMessage, "method" | "url" | "headers">;

/** The exchange types for node:http. */
export interface NodeExchange {
  readonly request: IncomingRequest;
  readonly stream: Readable;
}

/** The types of body that an answer may have. */
export type ReplyBody<Over extends Exchange> = string | Uint8Array | Over["stream"] | undefined;

/** A header of a request. If it was sent several times, the values are joined with commas. */
export function headerOf({ headers }: Pick<ServedRequest, "headers">, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : value;
}

/**
 * The request target as path and query. Clients of proxies send it with scheme and host, and some with a fragment;
 * these are removed.
 */
export function originForm({ url = "/" }: Pick<ServedRequest, "url">): string {
  const bare = url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const [target = ""] = bare.split("#", 1);
  return target === "" || target.startsWith("?") ? `/${target}` : target;
}

/** Splits a request's target into path and query. */
export function targetOf(request: Pick<ServedRequest, "url">): { path: string; query: string } {
  const target = originForm(request);
  const end = target.indexOf("?");
  return end === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, end), query: target.slice(end + 1) };
}

/**
 * An answer other than the operation's usual JSON: with another status, with headers of its own, or with another kind
 * of body.
 */
export class Reply<Body = string | Uint8Array | Readable | undefined> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly status = 200,
  ) {}
}

const acceptable = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id of a request in answers and logs: the one the caller sent, if it is valid, else a new one. */
export function requestId(incoming: string | undefined): string {
  return incoming !== undefined && acceptable.test(incoming)
    ? incoming
    : `req_${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
}
