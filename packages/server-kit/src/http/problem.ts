import type { ErrorCode } from "@cloud-sandbox/protocol";

export interface ProblemOptions {
  /** Facts for programs, next to the message for people. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A refusal that the caller is told about: thrown anywhere below a handler, answered in the plane's envelope. */
export class Problem extends Error {
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    { details, headers, cause }: ProblemOptions = {},
  ) {
    super(message, { cause });
    this.name = "Problem";
    this.details = details;
    this.headers = headers;
  }
}
