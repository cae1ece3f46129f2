/**
 * Keeps a sandbox's deadline in the future (`keepAlive`) and checks it before a notice (`onExpiring`). Both ask the
 * control plane first, because another client may have moved the deadline.
 */

import { isSandboxError, NotFoundError, SandboxExpiredError } from "../errors/errors.js";
import type { Activity } from "../transport/calls/calls.js";

/** The parts of a sandbox that `onExpiring` needs: its deadline, which other clients may move. */
export interface Expiring {
  /** Milliseconds until the deadline; undefined if the sandbox has none. */
  remaining(): number | undefined;
  refresh(): Promise<unknown>;
  isDeleted(): boolean;
}

/**
 * Why `keepAlive` ended. `idle`: the sandbox was not used for `seconds`. `maximum`: `maxSeconds` passed. `stopped`:
 * `stop()` was called, or the client was closed when the deadline had to be moved. `gone`: the sandbox is deleted.
 * `failed`: the deadline passed before it could be moved. Without a deadline, only `idle`, `maximum` and `stopped` occur.
 */
export type KeepAliveEnd = "idle" | "maximum" | "stopped" | "gone" | "failed";

/** The parts of a sandbox that `keepAlive` needs: its deadline, which can be moved, and when it was last used. */
export interface KeptSandbox {
  /** Milliseconds until the deadline; undefined if the sandbox has none. */
  remaining(): number | undefined;
  refresh(): Promise<unknown>;
  extend(seconds: number): Promise<void>;
  readonly activity: Activity;
}

/** The checked options of `keepAlive`. */
export interface KeepAliveLoopOptions {
  readonly seconds: number;
  /** When `maxSeconds` have passed, in milliseconds as `performance.now()` counts. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** Runs the loop of `keepAlive` and resolves with the reason why it ended. Its timers do not keep the process alive. */
export async function keepAliveLoop(
  sandbox: KeptSandbox,
  { endsAt, seconds, signal }: KeepAliveLoopOptions,
): Promise<KeepAliveEnd> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopped = new Promise<"stopped">((resolve) => {
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve("stopped");
    });
  });
  while (!signal.aborted) {
    const end =
      performance.now() >= endsAt ? "maximum" : await Promise.race([stopped, moveDeadline(sandbox, seconds)]);
    if (end !== undefined) return end;
    // Check three times per `seconds`: two attempts to move the deadline may then fail before it passes.
    const delay = Math.max(0, Math.min((seconds * 1000) / 3, endsAt - performance.now()));
    const later = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, delay);
      timer.unref?.();
    });
    await Promise.race([stopped, later]);
  }
  return "stopped";
}

/** Moves the deadline if it is too early. Returns the reason if `keepAlive` must end, else undefined. */
async function moveDeadline(sandbox: KeptSandbox, seconds: number): Promise<KeepAliveEnd | undefined> {
  const left = seconds - sandbox.activity.idle / 1000;
  if (left <= 0) return "idle";
  // Never make the deadline earlier: do nothing if it is late enough, or if there is none.
  const isLateEnough = (): boolean => (sandbox.remaining() ?? Number.POSITIVE_INFINITY) >= left * 1000;
  if (isLateEnough()) return undefined;
  try {
    await sandbox.refresh();
    if (!isLateEnough()) await sandbox.extend(Math.ceil(left));
    return undefined;
  } catch (error) {
    if (isGone(error)) return "gone";
    if (isClosed(error)) return "stopped";
    return (sandbox.remaining() ?? 0) > 0 ? undefined : "failed";
  }
}

/** Whether a notice of expiry is pointless: the sandbox is deleted, or the client is closed. */
export async function isOver(sandbox: Expiring): Promise<boolean> {
  try {
    await sandbox.refresh();
    return sandbox.isDeleted();
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    return isGone(error) || isClosed(error);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof NotFoundError || error instanceof SandboxExpiredError;
}

function isClosed(error: unknown): boolean {
  return isSandboxError(error) && error.code === "CLIENT_CLOSED";
}
