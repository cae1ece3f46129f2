import type { Problem } from "./problem.js";

export interface EnvelopeContext {
  readonly requestId: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

/** Turns a problem into the JSON body its plane answers with. */
export type Envelope = (problem: Problem, context: EnvelopeContext) => object;

/** The agent's envelope. `error` is for clients that read nothing else: it holds the summary and the hint. */
export const agentEnvelope: Envelope = (
  { message, summary, hint, code, details },
  { requestId, timestamp },
) => ({
  error: message,
  message: summary,
  ...(hint !== undefined && { hint }),
  code,
  request_id: requestId,
  timestamp,
  ...(typeof details?.path === "string" && { path: details.path }),
  ...(details && { details }),
});

/** The control plane's envelope. Clients that read only `error.message` find the summary and the hint there. */
export const controlPlaneEnvelope: Envelope = (
  { message, summary, hint, code, details },
  { requestId, timestamp },
) => ({
  error: { message, code, request_id: requestId, ...(details && { details }) },
  message: summary,
  ...(hint !== undefined && { hint }),
  code,
  request_id: requestId,
  timestamp,
  ...(typeof details?.retry_after_seconds === "number" && { retry_after: details.retry_after_seconds }),
});
