import type { SandboxError } from "../../errors/errors.js";
import type { RequestEvent } from "./hooks.js";
import type { TraceContext } from "./trace-context.js";

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
