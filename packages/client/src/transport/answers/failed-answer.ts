/** Errors for answers that arrived but are not usable. */
import { errorFromResponse } from "../../errors/error-from-response.js";
import type { SandboxError } from "../../errors/errors.js";
import { callFacts, invalidResponse, LightResponse } from "../http/light-response.js";

/** The error for an answer with an error status. */
export function refused(response: Response, body: unknown): SandboxError {
  const answer = asLight(response);
  const { status, headers } = answer;
  const call = callFacts(answer);
  const error = errorFromResponse({ ...call, status, headers, body, secrets: call.secrets() });
  call.failed(error);
  return error;
}

/** The error for a successful answer that lacks something. */
export function incomplete(response: Response, what: string): SandboxError {
  return invalidResponse(asLight(response), { summary: `The server's answer lacks ${what}.` });
}

/** The error for a successful answer that lacks a field. Some servers answer 200 with an error in the body. */
export function lacking(response: Response, body: object, field: string): SandboxError {
  return "error" in body ? refused(response, body) : incomplete(response, `"${field}"`);
}

/**
 * The error to throw when the code that reads a body threw `error`. A `TypeError` means that the body has the wrong form,
 * such as a missing list, and becomes an `InvalidResponseError`.
 */
export function malformed(response: Response, error: unknown): unknown {
  return error instanceof TypeError ? incomplete(response, "fields of the right form") : error;
}

/** The response as a `LightResponse`, which every answer of a `Channel` is. */
function asLight(response: Response): LightResponse {
  if (response instanceof LightResponse) return response;
  throw new TypeError("The response is not one that this client received.");
}
