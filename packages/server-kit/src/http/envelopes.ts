import type { Problem } from "./problem.js";

export interface EnvelopeContext {
  readonly requestId: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

/** Turns a problem into the JSON body its plane answers with. */
export type Envelope = (problem: Problem, context: EnvelopeContext) => object;

/** The agent's envelope: flat, with the text under both names that clients read. */
export const agentEnvelope: Envelope = ({ message, code, details }, { requestId, timestamp }) => ({
  error: message,
  message,
  code,
  request_id: requestId,
  timestamp,
  ...(typeof details?.path === "string" && { path: details.path }),
  ...(details && { details }),
});

/** The control plane's envelope: nested for the clients that read `error.message`, flat for the others. */
export const controlPlaneEnvelope: Envelope = ({ message, code, details }, { requestId, timestamp }) => ({
  error: { message, code, request_id: requestId, ...(details && { details }) },
  message,
  code,
  request_id: requestId,
  timestamp,
  ...(typeof details?.retry_after_seconds === "number" && { retry_after: details.retry_after_seconds }),
});
