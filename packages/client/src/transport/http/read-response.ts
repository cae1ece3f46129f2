/** Turns a received answer into a readable one, or into an error. */

import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";
import type { Plane } from "../../errors/error-from-response.js";
import { InvalidResponseError, SandboxError } from "../../errors/errors.js";
import { redact, safeHeaders } from "../../errors/redaction.js";
import {
  type AnswerHeaders,
  BodyTooLarge,
  declaredLength,
  type IncomingResponse,
  type Pieces,
  readAll,
  smallBody,
} from "./transport.js";

interface ReadContext {
  /** The server's scheme, host and port. */
  origin: string;
  call: CallFacts;
  /** Whether the answer is parsed as JSON. */
  isParsed: boolean;
  /** The most bytes to read into memory. */
  longest: number;
  /** The caller's own limit in bytes. */
  maxBytes: number | undefined;
  /** Starts the time limit for the next piece of the body. */
  expectChunk(): void;
  /** A stream for the caller, with that time limit. */
  watched(pieces: Pieces): ReadableStream<Uint8Array>;
}

export async function receive(incoming: IncomingResponse, context: ReadContext): Promise<Received> {
  const { status, headers } = incoming;
  const { call, origin } = context;
  const answer = (body: ReceivedBody): Received => ({ status, headers, body, call });
  if (status >= 300 && status < 400) {
    incoming.abandon();
    throw redirected(answer(null), origin);
  }
  if (status >= 400) return answer(await errorText(incoming));
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && declaredLength(headers) !== 0) {
    incoming.abandon();
    throw invalidResponse(answer(null), {
      summary: `The answer is compressed (${encoding}), which the request did not ask for.`,
    });
  }
  try {
    return answer(await content(incoming, context));
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    throw context.maxBytes === undefined
      ? tooLarge(answer(null), error)
      : beyondLimit(error, incoming, context);
  }
}

/** The most bytes read into memory at once. Larger files are streamed. */
export const longestBody = 64 * 1024 * 1024;
const longestError = 1024 * 1024;

/**
 * Reads JSON and small files here, so that the call's time limit and retries cover them. Large files become a stream for
 * the caller.
 */
async function content(
  incoming: IncomingResponse,
  { expectChunk, isParsed, longest, maxBytes, watched }: ReadContext,
): Promise<ReceivedBody> {
  const { headers, status } = incoming;
  const type = headers["content-type"] ?? "";
  const length = declaredLength(headers);
  const isJson = status === 204 || /^[^;]*[/+]json\b/i.test(type);
  const most = maxBytes ?? longest;
  if (length > most && (isJson || maxBytes !== undefined)) throw abandoned(incoming, most);
  if (isJson) return incoming.text(most);
  if (length >= 0 && length <= Math.min(maxBytes ?? smallBody, longestBody))
    return incoming.bytes(length, expectChunk, maxBytes ?? longestBody);
  const pieces = incoming.pieces();
  if (pieces === null) return null;
  // Check while reading, even if a length is declared: the length of a compressed body is not that of its content.
  if (maxBytes !== undefined) return readAll(pieces, maxBytes, expectChunk);
  // Read an answer without a length here, if it is to be parsed: openapi-fetch would parse it without typed errors, and
  // proxies' pages often have no length.
  if (Number.isNaN(length) && isParsed) return readAll(pieces, longest);
  return watched(pieces);
}

async function errorText(incoming: IncomingResponse): Promise<string> {
  if (declaredLength(incoming.headers) > longestError) {
    incoming.abandon();
    return "";
  }
  try {
    return await incoming.text(longestError);
  } catch (error) {
    if (error instanceof BodyTooLarge) return "";
    throw error;
  }
}

function abandoned(incoming: IncomingResponse, limit: number): BodyTooLarge {
  incoming.abandon();
  return new BodyTooLarge(limit);
}

function redirected(received: Received, origin: string): Error {
  const location = received.headers.location ?? "";
  const target = URL.canParse(location, origin) ? new URL(location, origin).origin : "elsewhere";
  return invalidResponse(received, {
    summary: `${origin} redirected the call to ${target}, where its credentials must not go.`,
    hint: "Set the base URL to the final address.",
    code: "REDIRECT_REFUSED",
  });
}

function tooLarge(received: Received, { limit }: BodyTooLarge): Error {
  return invalidResponse(received, {
    summary: `The answer is longer than ${limit / 1024 / 1024} MiB.`,
    hint: "Ask for less at once; files of any size are read with files.readBytes().",
    code: "RESPONSE_TOO_LARGE",
  });
}

/** The error for a body above the caller's own limit. Not an `InvalidResponseError`: the answer itself is fine. */
function beyondLimit(
  { limit }: BodyTooLarge,
  { headers }: IncomingResponse,
  { call }: ReadContext,
): SandboxError {
  return new SandboxError({
    summary: `The file holds more than ${limit} bytes, the most that was asked for.`,
    hint: "Allow more with maxBytes, or read parts of it with a command in the sandbox.",
    code: "FILE_TOO_LARGE",
    requestId: headers["x-request-id"] ?? call.requestId,
  });
}

/**
 * Data about the call that an answer belongs to, for its errors: which service, which request id, which secrets to
 * hide.
 */
interface CallFacts {
  plane: Plane;
  requestId: string;
  /** Whether the call may be repeated even if the server already did the work. */
  harmless: boolean;
  secrets(): readonly string[];
  /** Reports the error that the caller gets in place of the answer. */
  failed(error: SandboxError): void;
}

/** A complete body (text or bytes), or a stream that is still arriving. */
type ReceivedBody = string | ArrayBuffer | Blob | ReadableStream<Uint8Array> | null;

/** An answer of a `Channel`. */
export interface Received {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Its body, which is read once. */
  readonly body: ReceivedBody;
  readonly call: CallFacts;
}

/** The forms in which a caller may ask for the body of a successful answer. */
export type BodyForm = "json" | "text" | "blob" | "arrayBuffer" | "stream";

export function isOk({ status }: Received): boolean {
  return status >= 200 && status < 300;
}

/** The body of a successful answer; undefined if there is none. */
export async function readAs(form: BodyForm, received: Received): Promise<unknown> {
  const { body, headers } = received;
  if (body === null) return undefined;
  if (form === "json") return parsed(received, await textOf(body));
  if (form === "text") return textOf(body);
  if (form === "arrayBuffer") return body instanceof ArrayBuffer ? body : new Response(body).arrayBuffer();
  if (form === "blob") {
    const bytes = await new Response(body).arrayBuffer();
    return new Blob([bytes], { type: headers["content-type"] ?? "" });
  }
  return body instanceof ReadableStream ? body : new Response(body).body;
}

/** The body of an answer with an error status: JSON, else the text; undefined if it is empty. */
export async function readError({ body }: Received): Promise<unknown> {
  const text = body === null ? "" : await textOf(body);
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function textOf(body: NonNullable<ReceivedBody>): Promise<string> {
  return typeof body === "string" ? body : new Response(body).text();
}

function parsed(received: Received, text: string): unknown {
  if (text === "") return undefined;
  if (!isModestJson(text))
    throw invalidResponse(received, {
      summary: "The answer has more values than a valid answer of this operation can have.",
      hint: "Ask for less at once, or create another sandbox.",
      code: "RESPONSE_TOO_LARGE",
    });
  try {
    return JSON.parse(text);
  } catch {
    // Drop the parser's error, because it quotes the text.
    throw notJson(received, text);
  }
}

function notJson(received: Received, text: string): InvalidResponseError {
  const type = received.headers["content-type"] ?? "no content type";
  const form = /\bjson\b/i.test(type) ? "JSON that breaks off or is malformed" : `${type} instead of JSON`;
  return invalidResponse(received, {
    summary: `The server answered with ${form}, ${text.length} characters.`,
  });
}

/** The error for an answer of the wrong form. Also reports it to hooks and log. */
export function invalidResponse(
  { call, headers, status }: Received,
  {
    summary,
    hint = adviceOnServers,
    code = "INVALID_RESPONSE",
  }: { summary: string; hint?: string; code?: string },
): InvalidResponseError {
  const secrets = call.secrets();
  const requestId = redact(headers["x-request-id"] ?? call.requestId, secrets);
  const safe = safeHeaders(headers, secrets);
  const error = new InvalidResponseError({ summary, hint, code, requestId, status, headers: safe });
  call.failed(error);
  return error;
}

const adviceOnServers =
  "Check that the base URL is that of a sandbox service and that nothing between rewrites its answers.";
