import type { SandboxError } from "../../errors/errors.js";
import type { RequestEvent } from "./hooks.js";
import type { TraceContext } from "./trace-context.js";

/** Follows each try of each call, as a span for example; `cloud-sandbox/opentelemetry` has one. */
export interface Tracing {
  /** A request is about to be sent. */
  begin(request: RequestEvent): RequestSpan;
}

/** One try of a call, ended once. */
export interface RequestSpan {
  /** What the server is told of it. */
  readonly context?: TraceContext | undefined;
  /** Called once, when the try is over. */
  end(outcome: RequestOutcome): void;
}

/** A status, 101 for a WebSocket that was opened, or why there was no answer. */
export type RequestOutcome = { readonly status: number } | { readonly error: SandboxError };

/** For those who make their spans elsewhere. */
export function propagation(current: () => TraceContext | undefined): Tracing {
  return { begin: () => ({ context: current(), end: () => undefined }) };
}
