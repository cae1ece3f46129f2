import type { Plane } from "../../errors/error-from-response.js";
import type { SandboxError } from "../../errors/errors.js";

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
