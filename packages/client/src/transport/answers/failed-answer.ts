/** Errors for answers that arrived but are not usable. */
import { errorFromResponse } from "../../errors/error-from-response.js";
import type { SandboxError } from "../../errors/errors.js";
import { invalidResponse, type Received } from "../http/received.js";

/** The error for an answer with an error status. */
export function refused({ call, headers, status }: Received, body: unknown): SandboxError {
  const error = errorFromResponse({ ...call, status, headers, body, secrets: call.secrets() });
  call.failed(error);
  return error;
}

/** The error for a successful answer that lacks something. */
export function incomplete(received: Received, what: string): SandboxError {
  return invalidResponse(received, { summary: `The server's answer lacks ${what}.` });
}

/** The error for a successful answer that lacks a field. Some servers answer 200 with an error in the body. */
export function lacking(received: Received, body: object, field: string): SandboxError {
  return "error" in body ? refused(received, body) : incomplete(received, `"${field}"`);
}

/**
 * The error to throw when the code that reads a body threw `error`. A `TypeError` means that the body has the wrong form,
 * such as a missing list, and becomes an `InvalidResponseError`.
 */
export function malformed(received: Received, error: unknown): unknown {
  return error instanceof TypeError ? incomplete(received, "fields of the right form") : error;
}
