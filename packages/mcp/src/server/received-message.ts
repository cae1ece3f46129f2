/**
 * Checks what a client has sent before the SDK reads it: the SDK drops what is not JSON-RPC, and a client that asked would wait for
 * ever. So each request gets an answer, and what the client obviously meant is read as that.
 */
import {
  type JSONRPCErrorResponse,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";

export interface Received {
  /** The message as the SDK takes it, the same object if it was sent so; absent if it takes none. */
  readonly message?: unknown;
  /** The answer to what is no message. It has no id if none can be told. */
  readonly answer?: ErrorAnswer | undefined;
}

/** An error whose id is null, as JSON-RPC has it, if nobody knows which request it answers. */
export type ErrorAnswer = Omit<JSONRPCErrorResponse, "id"> & { readonly id: RequestId | null };

type Fields = Record<string, unknown>;

/** Reads a value that was sent as one message. */
export function received(value: unknown): Received {
  if (!isFields(value)) return { answer: invalid(null, "a message must be an object") };
  const message = withArguments(withoutNulls(value));
  try {
    parseJSONRPCMessage(message);
    return { message };
  } catch {
    const isRequest = "id" in value || !("method" in value);
    const isResponse = !("method" in value) && ("result" in value || "error" in value);
    return isRequest && !isResponse ? { answer: invalid(idOf(value), problemOf(message)) } : {};
  }
}

/** Some clients write null for absent parameters, also those of `_meta`; no parameter of a request may be null. */
function withoutNulls(fields: Fields): Fields {
  const { params, ...message } = fields;
  if (params === null) return message;
  if (!isFields(params)) return fields;
  const { _meta: meta } = params;
  const kept = isFields(meta) ? replaced(params, "_meta", notNull(meta)) : params;
  return replaced(fields, "params", notNull(kept));
}

/** The object itself if none of its members is null. */
function notNull(fields: Fields): Fields {
  const entries = Object.entries(fields);
  const kept = entries.filter(([, value]) => value !== null);
  return kept.length === entries.length ? fields : Object.fromEntries(kept);
}

/** The object itself if it has this value already. */
function replaced(fields: Fields, key: string, value: unknown): Fields {
  return fields[key] === value ? fields : { ...fields, [key]: value };
}

/** Some models write the arguments of a tool as text, and some clients pass that on. */
function withArguments(fields: Fields): Fields {
  const { method, params } = fields;
  if (method !== "tools/call" || !isFields(params) || typeof params.arguments !== "string") return fields;
  const { arguments: text, ...others } = params as Fields & { readonly arguments: string };
  try {
    const parsed: unknown = text.trim() === "" ? {} : JSON.parse(text);
    return isFields(parsed) ? { ...fields, params: { ...others, arguments: parsed } } : fields;
  } catch {
    return fields;
  }
}

function problemOf({ jsonrpc, id, method, params }: Fields): string {
  if (jsonrpc !== "2.0") return 'jsonrpc must be "2.0"';
  if (typeof id !== "string" && !Number.isInteger(id)) return "id must be text or a whole number";
  if (typeof id === "number" && !Number.isSafeInteger(id))
    return `id must be a whole number of at most ${Number.MAX_SAFE_INTEGER}, or text`;
  if (typeof method !== "string") return "method must be text";
  if (params !== undefined && !isFields(params)) return "params must be an object";
  return "it has members that MCP does not have, or params._meta of a wrong type";
}

export const notJson: ErrorAnswer = errorAnswer(
  null,
  ProtocolErrorCode.ParseError,
  "Parse error: this is not JSON",
);

function invalid(id: RequestId | null, problem: string): ErrorAnswer {
  return errorAnswer(id, ProtocolErrorCode.InvalidRequest, `Invalid request: ${problem}.`);
}

export function errorAnswer(id: RequestId | null, code: number, message: string): ErrorAnswer {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function idOf({ id }: Fields): RequestId | null {
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
