import { AbortError, ApiError, type SandboxError } from "../../errors/errors.js";
import type { Hooks, RequestEvent, RetryEvent } from "./hooks.js";
import type { Logger, LogLevel } from "./logger.js";
import { traceHeaders } from "./trace-context.js";
import type { RequestOutcome, RequestSpan, Tracing } from "./tracing.js";

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
