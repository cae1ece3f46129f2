import type { Plane } from "../error-from-response.js";
import type { SandboxError } from "../errors.js";

/** A request as hooks see it: without headers, query and body, so without secrets. */
export interface RequestEvent {
  plane: Plane;
  method: string;
  /** With the ids in it, without the query. */
  path: string;
  /** As sent in X-Request-ID. */
  requestId: string;
  /** 1 for the first try. */
  attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  status: number;
  /** From the start of this try to the end of a buffered body, or to the start of a streamed one. */
  durationMs: number;
}

export interface RetryEvent extends RequestEvent {
  /** Seconds until the next try. */
  delay: number;
  /** A status or an error code. */
  reason: string;
}

/** Called as things happen. What a hook throws reaches the caller of the operation. */
export interface Hooks {
  onRequest?(event: RequestEvent): void;
  onResponse?(event: ResponseEvent): void;
  onRetry?(event: RetryEvent): void;
  /** A sandbox could not be deleted after a call that made it. Without this hook, `process.emitWarning` is told. */
  onWarning?(warning: SandboxError): void;
}
