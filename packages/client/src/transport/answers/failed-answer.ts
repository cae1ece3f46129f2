/** The errors for answers that came, and are none. */
import { errorFromResponse } from "../../errors/error-from-response.js";
import type { SandboxError } from "../../errors/errors.js";
import { callFacts, invalidResponse, LightResponse } from "../http/light-response.js";

/** The server refused. */
export function refused(response: Response, body: unknown): SandboxError {
  const answer = ours(response);
  const { status, headers } = answer;
  const call = callFacts(answer);
  const error = errorFromResponse({ ...call, status, headers, body, secrets: call.secrets() });
  call.failed(error);
  return error;
}

/** It said yes, and left out what belongs to it. */
export function incomplete(response: Response, what: string): SandboxError {
  return invalidResponse(ours(response), { summary: `The server's answer lacks ${what}.` });
}

/** The same of one field; some servers say yes and tell of an error. */
export function lacking(response: Response, body: object, field: string): SandboxError {
  return "error" in body ? refused(response, body) : incomplete(response, `"${field}"`);
}

/** What reading it threw: over its form a `TypeError`, as of a list that is none. */
export function unreadable(response: Response, error: unknown): unknown {
  return error instanceof TypeError ? incomplete(response, "fields of the right form") : error;
}

function ours(response: Response): LightResponse {
  if (response instanceof LightResponse) return response;
  throw new TypeError("This response did not come through a channel.");
}
