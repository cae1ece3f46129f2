/** Turns an error response into a typed error. */
import { type ErrorEnvelope, readErrorEnvelope } from "./error-envelope.js";
import {
  ApiError,
  type ApiErrorOptions,
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ResourceLimitError,
  SandboxExpiredError,
  ServerError,
  TimeoutError,
  ValidationError,
} from "./errors.js";
import { redact, safeHeaders } from "./redaction.js";

/** Which service answered: the same status means different things from the control plane and from the agent. */
export type Plane = "control plane" | "agent";

interface FailedResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The body, parsed as JSON if possible, otherwise text. */
  body: unknown;
  plane: Plane;
  /** The request id that was sent, for servers that return none. */
  requestId: string;
  /** Whether the call may be repeated even if the server already did the work. */
  harmless: boolean;
  /** Credentials in use, which must not appear in the error. */
  secrets: readonly string[];
}

export function errorFromResponse(failed: FailedResponse): ApiError | TimeoutError {
  const { status, headers, plane, secrets } = failed;
  const envelope = readErrorEnvelope(failed.body, secrets);
  const kind = classify(status, envelope, plane);
  const retryAfter = parseRetryAfter(headers) ?? envelope.retryAfter;
  const code = envelope.code ?? kind.code ?? `HTTP_${status}`;
  const ownHint = code === "EXECUTION_TIMEOUT" ? moreTime : kind.hint?.(retryAfter);
  const otherwise = `The server answered ${status} without saying why.`;
  const options: ApiErrorOptions = {
    ...sentences(envelope, otherwise, kind, ownHint, code),
    code,
    requestId: redact(headers["x-request-id"] ?? envelope.requestId ?? failed.requestId, secrets),
    retryable: mayRetry(kind, failed, retryAfter),
    status,
    headers: safeHeaders(headers, secrets),
    details: envelope.details,
    retryAfterSeconds: retryAfter,
  };
  if (code === "EXECUTION_TIMEOUT") return new TimeoutError({ ...options, kind: "execution" });
  return new kind.error(options);
}

/** The error that an error frame of a stream describes. A frame has no HTTP status, so its code decides the class. */
export function errorFromFrame(
  frame: { error: string; code?: string | undefined },
  secrets: readonly string[],
  requestId?: string,
): ApiError | TimeoutError {
  const envelope = readErrorEnvelope(frame, secrets);
  const status = statusOfCode[envelope.code ?? ""] ?? 400;
  const kind = classify(status, envelope, "agent");
  const code = envelope.code ?? kind.code ?? "STREAM_FAILED";
  const otherwise = "The server reported a failure without saying why.";
  const texts = sentences(envelope, otherwise, kind, kind.hint?.(envelope.retryAfter), code);
  return new kind.error({ ...texts, code, requestId, details: envelope.details });
}

/** The HTTP status that the agent uses for a code. Codes not listed here are 400. */
const statusOfCode: Record<string, number> = {
  AUTHENTICATION_REQUIRED: 401,
  INVALID_TOKEN: 401,
  TOKEN_INVALID: 401,
  TOKEN_EXPIRED: 401,
  FORBIDDEN: 403,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  PROCESS_NOT_FOUND: 404,
  FILE_ALREADY_EXISTS: 409,
  TERMINAL_TAKEN_OVER: 409,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
};

/**
 * Summary and hint of an error. The hint is the client's own, else the server's, else a general one for the error's
 * class.
 */
function sentences(
  { message, hint }: ErrorEnvelope,
  otherwise: string,
  { error }: Kind,
  ownHint: string | undefined,
  code: string,
) {
  const serverHint = hint === undefined ? undefined : withMethodNames(hint);
  return {
    summary: withMethodNames(message ?? otherwise),
    hint: ownHint ?? serverHint ?? adviceFor(error, code),
    serverHint,
  };
}

function adviceFor(error: Kind["error"], code: string): string {
  if (error === ValidationError)
    return inputErrors.has(code)
      ? "Correct what the message names, and call again."
      : "Another server may support this call.";
  if (code === "FILE_ALREADY_EXISTS") return "Choose another path, or remove what is there.";
  if (error === NotFoundError) return "Check the name or the id.";
  if (error === ConflictError)
    return "Look at the state of the sandbox or template, and call again once that state allows it.";
  if (error === PermissionDeniedError) return "Use an API key with this permission.";
  return "Report the request id to the server's operator.";
}

/**
 * Codes that mean that the caller's input is wrong. Every other code means that the server cannot do the work, whatever
 * the input.
 */
const inputErrors: ReadonlySet<string> = new Set([
  "FILE_TOO_LARGE",
  "INVALID_JSON",
  "INVALID_PATH",
  "INVALID_REQUEST",
  "LANGUAGE_NOT_AVAILABLE",
  "MISSING_PARAMETER",
  "PAYLOAD_TOO_LARGE",
  "PORT_NOT_ALLOWED",
  "STREAM_FAILED",
]);

/** Replaces operation paths in a server's message by method names, because callers of this client know only methods. */
function withMethodNames(message: string): string {
  return message.replace(/(?<![\w./-])\/files\/(mkdir|download)\b/g, (_, name) =>
    name === "mkdir" ? "files.mkdir()" : "files.readBytes()",
  );
}

interface Kind {
  error: typeof ApiError;
  /** Code of the error, if the server gives none. */
  code?: string;
  hint?: (retryAfter: number | undefined) => string;
}

/**
 * Chooses the error's class and advice: first by the server's code, then by the words of its message, then by the status.
 *
 * The words count only in answers without a code. This project's servers always send a code, but the cloud's control plane
 * may answer `{"error": "Sandbox … not found"}`: without the words, that 404 would look like a wrong base URL, and a 403 for
 * an account's limit like a missing permission.
 */
function classify(status: number, { code, message = "" }: ErrorEnvelope, plane: Plane): Kind {
  const byCode = code === undefined ? undefined : kindOfCode[code];
  if (code === "SANDBOX_FAILED") return failed;
  if (status === 410 || code === "SANDBOX_EXPIRED") return expired;
  if (status === 404 && code === undefined && /sandbox.*not found/i.test(message)) return sandboxNotFound;
  if (status === 404 && code === undefined && /template.*not found/i.test(message)) return templateNotFound;
  if (byCode !== undefined) return byCode;
  if (status === 404 && plane === "control plane" && (code ?? "NOT_FOUND") === "NOT_FOUND") return noRoute;
  if (status === 401) return plane === "agent" ? tokenRefused : keyRefused;
  if (status === 403 && code === undefined && /\blimit\b/i.test(message)) return limited;
  if (status >= 500) return status === 501 ? { error: ServerError } : serverFailed;
  return kindOfStatus[status] ?? { error: ApiError };
}

/** Makes a hint that names the waiting time if the server gave one. */
function waiting(advice: string): (retryAfter: number | undefined) => string {
  return (retryAfter) => (retryAfter === undefined ? advice : `Try again in ${Math.ceil(retryAfter)} s.`);
}

/** Whether the call may be repeated. A server that gives a waiting time refused the call, so nothing was done yet. */
function mayRetry(kind: Kind, { harmless, status }: FailedResponse, retryAfter: number | undefined): boolean {
  if (status === 429) return kind === tooMany || retryAfter !== undefined;
  return kind === serverFailed && (harmless || (status === 503 && retryAfter !== undefined));
}

const keyRefused: Kind = {
  error: AuthenticationError,
  code: "AUTHENTICATION_REQUIRED",
  hint: () => "Check the API key: CLOUD_SANDBOX_API_KEY (or HOPX_API_KEY), or the apiKey option.",
};
const tokenRefused: Kind = {
  error: AuthenticationError,
  code: "INVALID_TOKEN",
  hint: () =>
    "The sandbox's token was refused even after a refresh; get the sandbox again with client.sandboxes.get(id).",
};
const expired: Kind = {
  error: SandboxExpiredError,
  code: "SANDBOX_EXPIRED",
  hint: () =>
    "Create another sandbox; a longer timeoutSeconds, or setTimeout() in time, keeps a sandbox alive.",
};
const failed: Kind = {
  error: SandboxExpiredError,
  hint: () =>
    "Create another sandbox; if that keeps failing, report the request id to the server's operator.",
};
const sandboxNotFound: Kind = {
  error: NotFoundError,
  code: "SANDBOX_NOT_FOUND",
  hint: () => "client.sandboxes.list() shows the sandboxes that exist, client.sandboxes.create() makes one.",
};
const noRoute: Kind = {
  error: NotFoundError,
  code: "NOT_FOUND",
  hint: () => "Check CLOUD_SANDBOX_BASE_URL (or the baseUrl option): it is the address without /v1.",
};
const templateNotFound: Kind = {
  error: NotFoundError,
  code: "TEMPLATE_NOT_FOUND",
  hint: () => "client.templates.list() shows the templates that exist.",
};
const pathRefused: Kind = {
  error: PermissionDeniedError,
  hint: () => "Only paths under /workspace and /tmp can be used.",
};
const fileNotFound: Kind = {
  error: NotFoundError,
  hint: () => "files.list() of the path's directory shows what is there.",
};
const limited: Kind = {
  error: ResourceLimitError,
  code: "RESOURCE_LIMIT_ERROR",
  hint: waiting("Delete what is no longer needed, or have the limit raised."),
};
const tooMany: Kind = {
  error: RateLimitError,
  code: "RATE_LIMIT_EXCEEDED",
  hint: waiting("Wait, then try again."),
};
const serverFailed: Kind = {
  error: ServerError,
  hint: waiting("Try again; if it keeps failing, report the request id to the server's operator."),
};
const moreTime =
  "Give the execution more time with timeoutSeconds (at most 300), or do less in one execution.";

const kindOfCode: Record<string, Kind> = {
  RESOURCE_LIMIT_ERROR: limited,
  RESOURCE_EXHAUSTED: {
    error: ResourceLimitError,
    hint: () => "End programs in the sandbox or connections to its ports, or wait until they end.",
  },
  RATE_LIMIT_EXCEEDED: tooMany,
  PATH_NOT_ALLOWED: pathRefused,
  FILE_NOT_FOUND: fileNotFound,
  DIRECTORY_NOT_FOUND: fileNotFound,
  SANDBOX_NOT_FOUND: sandboxNotFound,
  TEMPLATE_NOT_FOUND: templateNotFound,
  DISK_FULL: {
    error: ResourceLimitError,
    hint: () => "Remove what is no longer needed with files.remove(), or use another sandbox.",
  },
  STORAGE_FULL: {
    error: ResourceLimitError,
    hint: () =>
      "Delete sandboxes and templates that are no longer needed, or free disk space for the server's data directory, and call again.",
  },
  INTERNET_ACCESS_UNAVAILABLE: {
    error: ValidationError,
    hint: () => "Leave internetAccess out, or use a backend that has a network.",
  },
  ISOLATION_UNAVAILABLE: {
    error: ValidationError,
    hint: () => "Ask for less with minIsolation, or use another backend.",
  },
  LIMITS_UNAVAILABLE: {
    error: ValidationError,
    hint: () => "Ask for less with limits, or use another backend.",
  },
  SANDBOX_PAUSED: { error: ConflictError, hint: () => "Wake the sandbox with resume(), or connect(id)." },
  RUNTIME_UNAVAILABLE: { error: ServerError },
};

const kindOfStatus: Record<number, Kind> = {
  400: { error: ValidationError, code: "INVALID_REQUEST" },
  402: { ...limited, code: "PAYMENT_REQUIRED" },
  403: { error: PermissionDeniedError, code: "FORBIDDEN" },
  404: { error: NotFoundError, code: "NOT_FOUND" },
  409: { error: ConflictError, code: "CONFLICT" },
  413: { error: ValidationError, code: "PAYLOAD_TOO_LARGE" },
  422: { error: ValidationError, code: "INVALID_REQUEST" },
  429: tooMany,
};

/** Seconds in a Retry-After header: a number, or a date compared with the server's clock (the Date header). */
export function parseRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const header = headers["retry-after"]?.trim() ?? "";
  if (header === "") return undefined;
  const number = Number(header);
  if (Number.isFinite(number)) return number >= 0 ? number : undefined;
  const date = Date.parse(header);
  if (Number.isNaN(date)) return undefined;
  const now = Date.parse(headers.date ?? "") || Date.now();
  return Math.max(0, (date - now) / 1000);
}
