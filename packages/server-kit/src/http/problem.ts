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
