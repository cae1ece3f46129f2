import type { ErrorCode } from "@cloud-sandbox/protocol";

export interface ProblemOptions {
  /** What the caller can do next, in full sentences: a field of its own in the answer. */
  readonly hint?: string | undefined;
  /** Facts for programs, next to the message for people. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * A refusal that the caller is told about: thrown anywhere below a handler, answered in the plane's envelope. Its `message` is
 * the summary and the hint in one text.
 */
export class Problem extends Error {
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    /** What happened. */
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
