import type { Plane } from "../../errors/error-from-response.js";
import type { SandboxError } from "../../errors/errors.js";

/** A request as hooks see it: without headers, query and body, so without secrets. */
export interface RequestEvent {
  plane: Plane;
  method: string;
  /** Scheme, host and port of the server. */
  origin: string;
  /** With the ids in it, without the query. `/[hidden]` for uploads to servers of others, whose paths may be secrets. */
  path: string;
  /** The path as the contract has it, with names in place of ids: `/v1/sandboxes/{id}`. */
  operation: string | undefined;
  /** As sent in X-Request-ID. */
  requestId: string;
  /** 1 for the first try; 0 where a call failed before it. */
  attempt: number;
}

/** A request that was answered. */
export interface ResponseEvent extends RequestEvent {
  /** 101 for a WebSocket that was opened. */
  status: number;
  /** From the start of this try to the end of a buffered body, or to the start of a streamed one. */
  durationMs: number;
}

/** A call that is tried again. */
export interface RetryEvent extends RequestEvent {
  /** Seconds until the next try. */
  delaySeconds: number;
  /** A status or an error code. */
  reason: string;
}

export interface CallErrorEvent extends RequestEvent {
  /** What the caller gets. */
  error: SandboxError;
}

/** Called as things happen. What a hook throws reaches the caller of the operation. */
export interface Hooks {
  /** A try is about to be sent. */
  onRequest?(event: RequestEvent): void;
  /** A try was answered, with whatever status. */
  onResponse?(event: ResponseEvent): void;
  /** A call is tried again after a while. */
  onRetry?(event: RetryEvent): void;
  /**
   * A call failed and is not tried again, or a stream broke; told once. Not what the low-level clients give back as
   * `error`, nor while a new sandbox is waited for.
   */
  onError?(event: CallErrorEvent): void;
  /**
   * A sandbox could not be deleted after a call that made it, or a program not ended after one that started it. Without this
   * hook, `process.emitWarning` is told.
   */
  onWarning?(warning: SandboxError): void;
}
