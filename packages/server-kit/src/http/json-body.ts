import { GatheredBytes } from "@cloud-sandbox/protocol/gathered-bytes";
import type { ServedRequest } from "./exchange.js";
import { Problem } from "./problem.js";

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
