import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { GatheredBytes } from "@cloud-sandbox/protocol/gathered-bytes";
import { Problem } from "./problem.js";

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

const nothing = new Uint8Array();

/**
 * Reads the JSON body of a request; `undefined` if it is empty. The media type is not checked, because some clients
 * send wrong ones. A top-level field that is `null` counts as absent, as in servers that decode JSON into structs.
 */
export async function readJsonBody(request: ServedRequest, limit: number): Promise<unknown> {
  const text = new TextDecoder().decode(await readBody(request, limit));
  if (text.trim() === "") return undefined;
  const value = parseJson(text, "The request body");
  return isObject(value) ? withoutNulls(value) : value;
}

async function readBody(request: ServedRequest, limit: number): Promise<Uint8Array> {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (length === undefined && coding === undefined) return nothing;
  if (Number(length) > limit) throw tooLarge(limit);
  const received = new GatheredBytes();
  try {
    for await (const chunk of request) {
      if (received.length + chunk.byteLength > limit) throw tooLarge(limit);
      received.add(chunk);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(
      400,
      "INVALID_REQUEST",
      "The request ended before its body was complete. Send it again.",
    );
  }
  return received.bytes;
}

/** Parses JSON. Throws a 400 problem that names the text as `what`. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Do not use the parser's message: it quotes the text, which may contain secrets.
    throw new Problem(400, "INVALID_JSON", `${what} is not valid JSON.`);
  }
}

export function withoutNulls(record: Record<string, unknown>): Record<string, unknown> {
  for (const key of Object.keys(record)) if (record[key] === null) delete record[key];
  return record;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const tooLarge = (limit: number) =>
  new Problem(413, "PAYLOAD_TOO_LARGE", `The request body must be at most ${limit} bytes.`, {
    details: { limit },
  });
