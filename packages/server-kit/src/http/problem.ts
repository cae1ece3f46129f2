import type { ErrorCode } from "@cloud-sandbox/protocol";

export interface ProblemOptions {
  /** What the caller can do next, in full sentences. Sent as a separate field. */
  readonly hint?: string | undefined;
  /** Facts for programs, in addition to the message for people. Never contains a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * An error that is reported to the caller. It can be thrown anywhere below a handler and is answered in the error
 * format of the agent or control plane. Its `message` is the summary followed by the hint.
 */
export class Problem extends Error {
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    /** What happened, without the hint. */
    readonly summary: string,
    { hint, details, headers, cause }: ProblemOptions = {},
  ) {
    super(hint === undefined ? summary : `${summary} ${hint}`, { cause });
    this.name = "Problem";
    this.hint = hint;
    this.details = details;
    this.headers = headers;
  }
}

/** The answer to a request that failed for an internal reason. The reason is only in the server's log. */
export const internalProblem = (requestId: string) =>
  new Problem(
    500,
    "INTERNAL_ERROR",
    `The server failed for an internal reason. Its log has the cause under request id ${requestId}.`,
  );

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
