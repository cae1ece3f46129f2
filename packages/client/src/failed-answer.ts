/** The errors for answers that came, and are none. */
import { errorFromResponse } from "./error-from-response.js";
import type { SandboxError } from "./errors.js";
import { callFacts, invalidResponse, LightResponse } from "./transport/light-response.js";

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

function ours(response: Response): LightResponse {
  if (response instanceof LightResponse) return response;
  throw new TypeError("This response did not come through a channel.");
}
