import type { Problem } from "./problem.js";

export interface EnvelopeContext {
  readonly requestId: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

/** Turns a problem into the JSON body its plane answers with. */
export type Envelope = (problem: Problem, context: EnvelopeContext) => object;

/** The agent's envelope. Other people's clients read `error` or `message` and nothing else, so both end with the hint. */
export const agentEnvelope: Envelope = ({ message, hint, code, details }, { requestId, timestamp }) => ({
  error: message,
  message,
  ...(hint !== undefined && { hint }),
  code,
  request_id: requestId,
  timestamp,
  ...(typeof details?.path === "string" && { path: details.path }),
  ...(details && { details }),
});

/** The control plane's envelope. HOPX's Python client reads `error.message`, its JavaScript client `message`. */
export const controlPlaneEnvelope: Envelope = (
  { message, hint, code, details },
  { requestId, timestamp },
) => ({
  error: { message, code, request_id: requestId, ...(details && { details }) },
  message,
  ...(hint !== undefined && { hint }),
  code,
  request_id: requestId,
  timestamp,
  ...(typeof details?.retry_after_seconds === "number" && { retry_after: details.retry_after_seconds }),
});
