/**
 * The errors that this package throws: one class hierarchy below `SandboxError`.
 *
 * `message` is complete for a person: what happened, and what to do next. Status, code and request id are fields. Programs
 * should check the class or `code`; `summary` and `hint` are parts of the message for programs that word their own. No
 * message, header or detail ever contains a key or a token.
 */

const brand = Symbol.for("cloud-sandbox.error");

/** Whether `value` is an error of this package, even if another copy or bundle of the package threw it. */
export function isSandboxError(value: unknown): value is SandboxError {
  return typeof value === "object" && value !== null && brand in value;
}

/** Options to construct an error. */
export interface SandboxErrorOptions {
  /** What happened, in one sentence. */
  summary: string;
  /** What to do next, in one sentence. */
  hint?: string | undefined;
  /** Stable code in UPPER_SNAKE_CASE: the server's, or the client's own if no server answered. */
  code: string;
  requestId?: string | undefined;
  retryable?: boolean;
  cause?: unknown;
}

/** Base class of all errors of this package. `isSandboxError` also recognizes errors of other copies of the package. */
export class SandboxError extends Error {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "SandboxError";
  }
  /** What happened, without the advice. */
  readonly summary: string;
  /** What to do next. */
  readonly hint: string | undefined;
  /** Stable code in UPPER_SNAKE_CASE: the server's, or the client's own if no server answered. */
  readonly code: string;
  /** Request id returned by the server, else the one sent with the request. */
  readonly requestId: string | undefined;
  /** Whether the same call may succeed later, without doing its work twice. */
  readonly retryable: boolean;
  /** Why the cleanup after this error failed, if it did: a sandbox may still exist. */
  declare cleanupError?: SandboxError;

  constructor(options: SandboxErrorOptions) {
    super(sentences(options.summary, options.hint), causeOf(options));
    this.summary = options.summary;
    this.hint = options.hint;
    this.code = options.code;
    this.requestId = options.requestId;
    this.retryable = options.retryable ?? false;
    Object.defineProperty(this, brand, { value: true });
  }
}

/**
 * A setting is missing or invalid, or this machine lacks something that is needed. Most are thrown when the client is
 * created.
 */
export class ConfigurationError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ConfigurationError";
  }
}

/** No answer arrived: connecting failed, or the connection broke. `cause` is the system's error. */
export class NetworkError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "NetworkError";
  }
  /** Whether the request may have reached the server, which then may have done the work. */
  readonly wasSent: boolean;

  constructor(options: SandboxErrorOptions & { wasSent?: boolean }) {
    super(options);
    this.wasSent = options.wasSent ?? false;
  }
}

/**
 * Which time limit was exceeded: of one `request`, of running code (`execution`), or of a stream's silence (`idle`). The
 * end of a sandbox's lifetime is a `SandboxExpiredError` instead.
 */
export type TimeoutKind = "request" | "execution" | "idle";

/** A time limit was exceeded; `kind` says which. */
export class TimeoutError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "TimeoutError";
  }
  /** Which time limit was exceeded. */
  readonly kind: TimeoutKind;

  constructor(options: SandboxErrorOptions & { kind: TimeoutKind }) {
    super(options);
    this.kind = options.kind;
  }
}

/** A stream ended without its final message: its connection broke, or the server or the reader closed it. */
export class StreamClosedError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "StreamClosedError";
  }
  /** WebSocket close code; 1006 if the connection broke; undefined if this client closed the stream. */
  readonly closeCode: number | undefined;

  constructor(options: SandboxErrorOptions & { closeCode?: number }) {
    super(options);
    this.closeCode = options.closeCode;
  }
}

/** A template build failed. */
export class TemplateBuildError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "TemplateBuildError";
  }
  /** Id of the build on the server. */
  readonly buildId: string;
  /** Id of the template being built. */
  readonly templateId: string;
  /** The step that failed, as the server names it. */
  readonly step: string | undefined;
  /** Output of the failed step; if the log has no steps, the end of the log. At most 64 KiB. */
  readonly log: string;

  constructor(failure: {
    reason: string;
    buildId: string;
    templateId: string;
    step: string | undefined;
    log: string;
  }) {
    const end = failure.log.slice(-2000);
    super({
      summary:
        end === "" ? failure.reason : `${failure.reason.replace(/(?<![.:\s])[.:\s]+$/, "")}:\n${end}\n`,
      hint: "Correct the step and build again.",
      code: "BUILD_FAILED",
    });
    this.buildId = failure.buildId;
    this.templateId = failure.templateId;
    this.step = failure.step;
    this.log = failure.log;
  }
}

/** The caller's AbortSignal fired. `reason` is the signal's reason. */
export class AbortError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "AbortError";
  }
  readonly reason: unknown;

  constructor(reason: unknown, summary = "The call was aborted by its signal.") {
    super({ summary, code: "ABORTED", cause: reason });
    this.reason = reason;
  }
}

/** Options to construct an `ApiError`. */
export interface ApiErrorOptions extends SandboxErrorOptions {
  status?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
  retryAfterSeconds?: number | undefined;
  serverHint?: string | undefined;
}

/** The server refused the call, or sent an invalid answer. */
export class ApiError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ApiError";
  }
  /** HTTP status; undefined if the client refused the call before sending it. */
  readonly status: number | undefined;
  /** Response headers with lower-case names; values of headers that carry credentials are hidden. */
  readonly headers: Readonly<Record<string, string>>;
  /** Details that the server sent, if any. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds that the server asked to wait, if it did. */
  readonly retryAfterSeconds: number | undefined;
  /** The server's own advice. `hint` is the client's advice if it has one for this error. */
  readonly serverHint: string | undefined;

  constructor(options: ApiErrorOptions) {
    super(options);
    this.status = options.status;
    this.headers = options.headers ?? {};
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.serverHint = options.serverHint;
  }
}

/** 401: no key, a wrong key, or a sandbox token that was refused even after a refresh. */
export class AuthenticationError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "AuthenticationError";
  }
}

/** 403: authenticated, but not allowed. `PATH_NOT_ALLOWED` means a file outside /workspace and /tmp. */
export class PermissionDeniedError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "PermissionDeniedError";
  }
}

/** 404: no such sandbox, template, file, process or variable; `code` says which. */
export class NotFoundError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "NotFoundError";
  }
}

/** 409: the thing exists already, or its state does not allow the operation. */
export class ConflictError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ConflictError";
  }
}

/** The sandbox no longer exists: its lifetime ended, it was deleted, or its machine failed. */
export class SandboxExpiredError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "SandboxExpiredError";
  }
}

/** 400, or an invalid argument that the client refused before sending (`status` is then undefined). */
export class ValidationError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ValidationError";
  }
}

/** 429: too many requests. `retryAfterSeconds` says how long to wait. */
export class RateLimitError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "RateLimitError";
  }
}

/** A limit of the account, the backend or the sandbox was reached: sandboxes, processes, memory, disk, credit. */
export class ResourceLimitError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ResourceLimitError";
  }
}

/** 5xx: the server failed. */
export class ServerError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ServerError";
  }
}

/** The answer does not have the expected form: HTML, truncated JSON, a redirect, missing fields, too large. */
export class InvalidResponseError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "InvalidResponseError";
  }
}

/** The hint for an answer that no caller can mend. */
export const reportIt = "Report this to the server's operator.";

/** The error for an invalid argument, thrown before anything is sent. */
export function invalidArgument(summary: string, hint?: string): ValidationError {
  return new ValidationError({ summary, hint, code: "INVALID_ARGUMENT" });
}

/** The error for a call on a closed client. */
export function clientClosed(): SandboxError {
  const summary = "This client is closed.";
  return new SandboxError({ summary, hint: "Create another SandboxClient.", code: "CLIENT_CLOSED" });
}

function sentences(summary: string, hint: string | undefined): string {
  if (hint === undefined) return summary;
  return `${summary}${/[.!?:;…\s]$/.test(summary) ? "" : "."} ${hint}`;
}

function causeOf(options: SandboxErrorOptions): ErrorOptions {
  return options.cause === undefined ? {} : { cause: options.cause };
}
