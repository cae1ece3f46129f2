/** Turns a received answer into a readable one, or into an error. */
import { SandboxError } from "../../errors/errors.js";
import { type CallFacts, invalidResponse, type Received, type ReceivedBody } from "./received.js";
import {
  BodyTooLarge,
  declaredLength,
  type IncomingResponse,
  type Pieces,
  readAll,
  smallBody,
} from "./transport.js";

export interface ReadContext {
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
