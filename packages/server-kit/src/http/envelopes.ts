import type { Problem } from "./problem.js";

export interface EnvelopeContext {
  readonly requestId: string;
  /** Time of the answer, in RFC 3339. */
  readonly timestamp: string;
}

/** Turns a problem into the JSON body of an error answer, in the format of an agent or of a control plane. */
export type Envelope = (problem: Problem, context: EnvelopeContext) => object;

/**
 * The error format of agents. Clients of other projects read only `error` or `message`, so both end with the hint.
 */
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

/**
 * The error format of control planes. HOPX's Python client reads `error.message`, its JavaScript client reads
 * `message`.
 */
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
