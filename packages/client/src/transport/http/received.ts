import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";
import type { Plane } from "../../errors/error-from-response.js";
import { InvalidResponseError, type SandboxError } from "../../errors/errors.js";
import { redact, safeHeaders } from "../../errors/redaction.js";
import type { AnswerHeaders } from "./transport.js";

/**
 * Data about the call that an answer belongs to, for its errors: which service, which request id, which secrets to
 * hide.
 */
export interface CallFacts {
  plane: Plane;
  requestId: string;
  /** Whether the call may be repeated even if the server already did the work. */
  harmless: boolean;
  secrets(): readonly string[];
  /** Reports the error that the caller gets in place of the answer. */
  failed(error: SandboxError): void;
}

/** A complete body (text or bytes), or a stream that is still arriving. */
export type ReceivedBody = string | ArrayBuffer | Blob | ReadableStream<Uint8Array> | null;

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
