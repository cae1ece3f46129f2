/**
 * The one tree of errors this package throws.
 *
 * `message` is complete for a person: what happened, the server's identifiers, what to do next. Programs
 * look at the class or `code`; `summary` and `hint` are the parts of the message, for those who phrase
 * their own. No message, header or detail ever carries a key or a token.
 */

const brand = Symbol.for("cloud-sandbox.error");

/** Whether `value` is an error of this package, also when another copy or bundle of it threw the error. */
export function isSandboxError(value: unknown): value is SandboxError {
  return typeof value === "object" && value !== null && brand in value;
}

/** What an error is made of. */
export interface SandboxErrorOptions {
  /** What happened, in one sentence. */
  summary: string;
  /** What to do next, in one sentence. */
  hint?: string | undefined;
  /** Stable and UPPER_SNAKE: the server's code, or one of ours where no server spoke. */
  code: string;
  requestId?: string | undefined;
  retryable?: boolean;
  cause?: unknown;
}

/** What all errors of this package are. `isSandboxError` knows those of other copies of it too. */
export class SandboxError extends Error {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "SandboxError";
  }
  /** What happened, without identifiers and advice. */
  readonly summary: string;
  /** What to do next. */
  readonly hint: string | undefined;
  /** Stable and UPPER_SNAKE: the server's code, or one of ours where no server spoke. */
  readonly code: string;
  /** The server's id of the request, else the one that was sent with it. */
  readonly requestId: string | undefined;
  /** Whether the same call, made again later, may succeed and cannot do its work twice. */
  readonly retryable: boolean;
  /** Why the clean-up that followed this error failed, when it did: a sandbox may be left. */
  declare cleanupError?: SandboxError;

  constructor(options: SandboxErrorOptions, identifiers = "") {
    super(sentences(options.summary, identifiers, options.hint), causeOf(options));
    this.summary = options.summary;
    this.hint = options.hint;
    this.code = options.code;
    this.requestId = options.requestId;
    this.retryable = options.retryable ?? false;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** A setting is missing or unusable; thrown when the client is made. */
export class ConfigurationError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ConfigurationError";
  }
}

/** No answer arrived: the connection could not be made, or it broke. `cause` is the system's own error. */
export class NetworkError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "NetworkError";
  }
  /** Whether the server may have got the call, and done its work. */
  readonly wasSent: boolean;

  constructor(options: SandboxErrorOptions & { wasSent?: boolean }) {
    super(options);
    this.wasSent = options.wasSent ?? false;
  }
}

/**
 * Which limit passed: how long one `request` may take, how long code may run (`execution`), how long a stream may
 * stay silent (`idle`). A sandbox whose lifetime passed is a `SandboxExpiredError`.
 */
export type TimeoutKind = "request" | "execution" | "idle";

/** A limit passed: `kind` says which. */
export class TimeoutError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "TimeoutError";
  }
  /** Which limit passed. */
  readonly kind: TimeoutKind;

  constructor(options: SandboxErrorOptions & { kind: TimeoutKind }) {
    super(options);
    this.kind = options.kind;
  }
}

/** A stream ended before it told how: its connection broke, was closed by the server, or was left by its reader. */
export class StreamClosedError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "StreamClosedError";
  }
  /** The WebSocket's close code; 1006 when the connection broke; undefined when it was closed from this side. */
  readonly closeCode: number | undefined;

  constructor(options: SandboxErrorOptions & { closeCode?: number }) {
    super(options);
    this.closeCode = options.closeCode;
  }
}

/** A template could not be built. */
export class TemplateBuildError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "TemplateBuildError";
  }
  /** Names the build at the server. */
  readonly buildId: string;
  /** Names the template that was to be made. */
  readonly templateId: string;
  /** The step that failed, as the server names it. */
  readonly step: string | undefined;
  /** What the failing step wrote, or the end of the log where it does not tell steps apart. At most 64 KiB. */
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
      hint: "Mend the step and build again.",
      code: "BUILD_FAILED",
    });
    this.buildId = failure.buildId;
    this.templateId = failure.templateId;
    this.step = failure.step;
    this.log = failure.log;
  }
}

/** The caller's AbortSignal fired. `reason` is the signal's own. */
export class AbortError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "AbortError";
  }
  readonly reason: unknown;

  constructor(reason: unknown) {
    super({ summary: "The call was aborted by its signal.", code: "ABORTED", cause: reason });
    this.reason = reason;
  }
}

/** What an error of a server is made of. */
export interface ApiErrorOptions extends SandboxErrorOptions {
  status?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
  retryAfterSeconds?: number | undefined;
  serverHint?: string | undefined;
}

/** The server refused, or answered with something that cannot be an answer. */
export class ApiError extends SandboxError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ApiError";
  }
  /** HTTP status; undefined when the client refused before anything was sent. */
  readonly status: number | undefined;
  /** Response headers, lower-case, without those that carry credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The server's own details, if it gave any. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds the server asked to wait, if it did. */
  readonly retryAfterSeconds: number | undefined;
  /** What the server itself says to do next. `hint` is the client's own advice where it has some. */
  readonly serverHint: string | undefined;

  constructor(options: ApiErrorOptions) {
    super(options, identifiers(options));
    this.status = options.status;
    this.headers = options.headers ?? {};
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.serverHint = options.serverHint;
  }
}

/** 401: no key, a wrong one, or a sandbox token that is refused even after a refresh. */
export class AuthenticationError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "AuthenticationError";
  }
}

/** 403: known, but not allowed; `PATH_NOT_ALLOWED` is a file outside of /workspace and /tmp. */
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

/** 409: it exists already, or its state does not allow this. */
export class ConflictError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "ConflictError";
  }
}

/** The sandbox existed and is gone: its lifetime passed, it was deleted, or its machine failed. */
export class SandboxExpiredError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "SandboxExpiredError";
  }
}

/** 400, or an argument this client refused before sending (`status` is undefined then). */
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

/** A limit of the account, the backend or the sandbox is reached: sandboxes, processes, memory, credit. */
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

/** The answer is not what the operation promises: HTML, half a JSON, a redirect, missing fields, too large. */
export class InvalidResponseError extends ApiError {
  /** The class name; correct even if a bundler renames the class. */
  override get name(): string {
    return "InvalidResponseError";
  }
}

/** A refusal by this client, before anything was sent. */
export function invalidArgument(summary: string, hint?: string): ValidationError {
  return new ValidationError({ summary, hint, code: "INVALID_ARGUMENT" });
}

/** For a client that is used after its end. */
export function clientClosed(): SandboxError {
  const summary = "This client is closed.";
  return new SandboxError({ summary, hint: "Make another SandboxClient.", code: "CLIENT_CLOSED" });
}

function identifiers(options: ApiErrorOptions): string {
  if (options.status === undefined) return "";
  const code = options.code.startsWith("HTTP_") ? "" : ` ${options.code}`;
  const request = options.requestId === undefined ? "" : `, request ${options.requestId}`;
  return `HTTP ${options.status}${code}${request}`;
}

function sentences(summary: string, identifiers: string, hint: string | undefined): string {
  const what = identifiers === "" ? summary : `${summary.replace(/[.\s]+$/, "")} (${identifiers}).`;
  return hint === undefined ? what : `${what} ${hint}`;
}

function causeOf(options: SandboxErrorOptions): ErrorOptions {
  return options.cause === undefined ? {} : { cause: options.cause };
}
