import type { Plane } from "../errors/error-from-response.js";
import { AbortError, ApiError, type SandboxError } from "../errors/errors.js";

/** The receivers of events about requests. */
export interface Observers {
  hooks: Hooks;
  log: Logger | undefined;
  tracing: Tracing | undefined;
}

/** The observer, or undefined if there is no hook, log or tracing: creating events costs time. */
export function observerOf(parts: Observers): Observer | undefined {
  const { log, tracing } = parts;
  const { onError, onRequest, onResponse, onRetry } = parts.hooks;
  const someone = log ?? tracing ?? onError ?? onRequest ?? onResponse ?? onRetry;
  return someone === undefined ? undefined : new Observer(parts);
}

/** Reports requests to hooks, log and tracing. */
export class Observer {
  readonly #parts: Observers;

  constructor(parts: Observers) {
    this.#parts = parts;
  }

  /** Reports the start of an attempt. The caller must report its end with the returned object. */
  begin(event: RequestEvent): ObservedTry {
    const { hooks, log, tracing } = this.#parts;
    hooks.onRequest?.(event);
    log?.debug(fieldsOf(event), `${title(event)} is sent`);
    const span = tracing?.begin(event);
    return new ObservedTry(this.#parts, event, span);
  }

  retry(event: RetryEvent): void {
    const { hooks, log } = this.#parts;
    const { delaySeconds: delay, reason } = event;
    const seconds = delay.toFixed(2);
    log?.warn(
      { ...fieldsOf(event), delay, reason },
      `${title(event)} is tried again in ${seconds} s: ${reason}`,
    );
    hooks.onRetry?.(event);
  }

  /** Reports that a call failed for good, once per error. */
  failed(event: RequestEvent, error: SandboxError): void {
    if (reported.has(error)) return;
    reported.add(error);
    const { hooks, log } = this.#parts;
    const { code, name } = error;
    const status = error instanceof ApiError ? error.status : undefined;
    const fields = { ...fieldsOf(event), error: name, code, status };
    log?.[levelOf(error)](fields, `${title(event)} failed: ${error.message}`);
    hooks.onError?.({ ...event, error });
  }
}

/** Errors already reported: the same error passes several places that report it. */
const reported = new WeakSet<SandboxError>();

/** Reports one attempt of a call. */
export class ObservedTry {
  /** Trace headers to send with the attempt. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #parts: Observers;
  readonly #event: RequestEvent;
  readonly #span: RequestSpan | undefined;
  readonly #started = performance.now();

  constructor(parts: Observers, event: RequestEvent, span: RequestSpan | undefined) {
    this.#parts = parts;
    this.#event = event;
    this.#span = span;
    this.headers = traceHeaders(span?.context);
    if (this.headers === undefined && span?.context !== undefined)
      parts.log?.warn(fieldsOf(event), "The trace context has no valid traceparent and is not sent");
  }

  answered(status: number): void {
    const { hooks, log } = this.#parts;
    const durationMs = performance.now() - this.#started;
    this.#span?.end({ status });
    const fields = { ...fieldsOf(this.#event), status, durationMs };
    log?.debug(fields, `${title(this.#event)} was answered ${status} after ${durationMs.toFixed(1)} ms`);
    hooks.onResponse?.({ ...this.#event, status, durationMs });
  }

  /** Reports that the attempt got no answer. */
  broke(error: SandboxError): void {
    this.#span?.end({ error } satisfies RequestOutcome);
  }
}

function title({ method, path }: RequestEvent): string {
  return `${method} ${path}`;
}

function fieldsOf({
  attempt,
  method,
  origin,
  path,
  plane,
  requestId,
}: RequestEvent): Record<string, unknown> {
  return { plane, method, origin, path, requestId, attempt };
}

/**
 * The log level of a failed call: `debug` for the caller's own abort, `info` for a refusal (4xx), `error` for the rest.
 */
function levelOf(error: SandboxError): LogLevel {
  if (error instanceof AbortError) return "debug";
  const isRefusal =
    error instanceof ApiError && error.status !== undefined && error.status >= 400 && error.status < 500;
  return isRefusal ? "info" : "error";
}

/** A request as hooks see it: without headers, query and body, and therefore without secrets. */
export interface RequestEvent {
  plane: Plane;
  method: string;
  /** Scheme, host and port of the server. */
  origin: string;
  /** Path with ids, without the query. `/[hidden]` for uploads to third-party servers, whose paths may be secrets. */
  path: string;
  /** Path as in the API description, with parameter names in place of ids: `/v1/sandboxes/{id}`. */
  operation: string | undefined;
  /** The request's id, sent as X-Request-ID. */
  requestId: string;
  /** Number of the attempt, from 1; 0 if the call failed before the first attempt. */
  attempt: number;
}

/** A request that was answered. */
export interface ResponseEvent extends RequestEvent {
  /** HTTP status; 101 for an opened WebSocket. */
  status: number;
  /** Milliseconds from the start of this attempt to the end of a buffered body, or to the start of a streamed one. */
  durationMs: number;
}

/** A call that will be retried. */
export interface RetryEvent extends RequestEvent {
  /** Seconds until the next attempt. */
  delaySeconds: number;
  /** Why the call is retried: an HTTP status or an error code. */
  reason: string;
}

/** A call that failed for good, or a stream that broke. */
export interface CallErrorEvent extends RequestEvent {
  /** The error that the caller receives. */
  error: SandboxError;
}

/** Callbacks for requests. An error that a hook throws rejects the call. */
export interface Hooks {
  /** Called before an attempt is sent. */
  onRequest?(event: RequestEvent): void;
  /** Called when an attempt is answered, with any status. */
  onResponse?(event: ResponseEvent): void;
  /** Called before waiting for the next attempt. */
  onRetry?(event: RetryEvent): void;
  /**
   * Called once when a call fails for good, or a stream breaks. Not called for errors that the low-level clients return
   * as `error`, nor while waiting for a new sandbox.
   */
  onError?(event: CallErrorEvent): void;
  /**
   * Called if cleanup failed: a sandbox could not be deleted after the call that created it, or a program not killed
   * after the call that started it. Without this hook and without a logger, `process.emitWarning` is called instead.
   */
  onWarning?(warning: SandboxError): void;
}

/** Log levels, from most to least detailed. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Structured data of a log line. Never contains secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Receives log lines: `console`, pino, or any object with these methods. */
export interface Logger {
  /** Logs each request and its answer. */
  debug(fields: LogFields, message: string): void;
  /** Logs a request that the server refused. */
  info(fields: LogFields, message: string): void;
  /** Logs a call that is retried, and failed cleanup. */
  warn(fields: LogFields, message: string): void;
  /** Logs a call that failed because of the network, the server or a time limit. */
  error(fields: LogFields, message: string): void;
}

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** `logger` without the lines below `level`. */
export function leveled(logger: Logger, level: LogLevel): Logger {
  const least = logLevels.indexOf(level);
  const line =
    (name: LogLevel): Logger["debug"] =>
    (fields, message) => {
      if (logLevels.indexOf(name) >= least) logger[name](fields, message);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

/** Traces each attempt of each call, for example as a span; `cloud-sandbox/opentelemetry` has an implementation. */
export interface Tracing {
  /** Called before a request is sent. */
  begin(request: RequestEvent): RequestSpan;
}

/** The trace of one attempt. */
export interface RequestSpan {
  /** Trace context to send to the server. */
  readonly context?: TraceContext | undefined;
  /** Called once, when the attempt is over. */
  end(outcome: RequestOutcome): void;
}

/** How an attempt ended: an HTTP status (101 for an opened WebSocket), or the error if there was no answer. */
export type RequestOutcome = { readonly status: number } | { readonly error: SandboxError };

/** Tracing that only sends an existing trace context, for the option `traceContext`. */
export function propagation(current: () => TraceContext | undefined): Tracing {
  return { begin: () => ({ context: current(), end: () => undefined }) };
}

/** Position of a call in a trace, in the format of W3C Trace Context. */
export interface TraceContext {
  /** `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`. */
  traceparent: string;
  /** Vendor-specific data: at most 32 members and 512 characters. */
  tracestate?: string | undefined;
}

const traceparentForm = /^(?!ff)[\da-f]{2}-(?!0+-)[\da-f]{32}-(?!0+-)[\da-f]{16}-[\da-f]{2}$/;
const stateMember = /^[a-z\d][\w\-*/@]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]*$/;
const mostMembers = 32;
const longestState = 512;

/**
 * The trace headers. Malformed values are left out, as the standard requires: they often come from a third party, who
 * must not be able to break calls or inject headers.
 */
function traceHeaders(context: Partial<TraceContext> | undefined): Record<string, string> | undefined {
  const { traceparent, tracestate } = context ?? {};
  if (typeof traceparent !== "string" || !traceparentForm.test(traceparent)) return undefined;
  return isState(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function isState(text: unknown): text is string {
  if (typeof text !== "string" || text === "" || text.length > longestState) return false;
  const members = text.split(",").map((member) => member.trim());
  return members.length <= mostMembers && members.every((member) => stateMember.test(member));
}
