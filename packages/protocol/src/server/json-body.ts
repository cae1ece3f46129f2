import { Problem } from "./problem.js";

/**
 * The JSON body of a request, or `undefined` where it is empty. The media type is not looked at: clients send
 * odd ones. A field that is `null` counts as absent, as it does for servers that decode into structs.
 */
export async function readJsonBody(request: Request, limit: number): Promise<unknown> {
  const text = await readText(request, limit);
  if (text.trim() === "") return undefined;
  const value = parse(text);
  return isObject(value) ? withoutNulls(value) : value;
}

async function readText(request: Request, limit: number): Promise<string> {
  const length = request.headers.get("content-length");
  if (length !== null) {
    if (Number(length) > limit) throw tooLarge(limit);
    return request.text();
  }
  if (request.headers.get("transfer-encoding") === null || request.body === null) return request.text();

  const decoder = new TextDecoder();
  let text = "";
  let received = 0;
  for await (const chunk of request.body) {
    received += chunk.byteLength;
    if (received > limit) throw tooLarge(limit);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    throw new Problem(400, "INVALID_JSON", "The request body is not valid JSON.");
  }
}

function withoutNulls(record: Record<string, unknown>): Record<string, unknown> {
  for (const key of Object.keys(record)) if (record[key] === null) delete record[key];
  return record;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const tooLarge = (limit: number) =>
  new Problem(413, "PAYLOAD_TOO_LARGE", `The request body must be at most ${limit} bytes.`, {
    details: { limit },
  });
