/** What the control plane is asked as a deadline comes near: somebody else may have moved it. */

import { isSandboxError, NotFoundError, SandboxExpiredError } from "../errors/errors.js";
import type { Activity } from "../transport/calls/activity.js";

/** What has a deadline, which others may move. */
export interface Expiring {
  /** Milliseconds until the deadline; undefined where there is none. */
  remaining(): number | undefined;
  refresh(): Promise<unknown>;
  isDeleted(): boolean;
}

/**
 * Why a sandbox is kept no longer: it was not used (`idle`), `maxSeconds` passed (`maximum`), `stop` was called or the
 * client was closed when the deadline had to be moved (`stopped`), it is deleted (`gone`), or its deadline could not be moved
 * before it came (`failed`). Without a deadline, `idle`, `maximum` and `stop` alone end it.
 */
export type KeepAliveEnd = "idle" | "maximum" | "stopped" | "gone" | "failed";

/** What is kept: a deadline that can be moved. */
export interface Keepable {
  /** Milliseconds until the deadline; undefined where there is none. */
  remaining(): number | undefined;
  refresh(): Promise<unknown>;
  extend(seconds: number): Promise<void>;
  readonly activity: Activity;
}

/** For how long a sandbox is kept. */
export interface Keeping {
  readonly seconds: number;
  /** By `performance.now()`. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** Keeps a sandbox until it is kept no longer, and gives why. Its timers keep no process alive. */
export async function kept(sandbox: Keepable, { endsAt, seconds, signal }: Keeping): Promise<KeepAliveEnd> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopped = new Promise<"stopped">((resolve) => {
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve("stopped");
    });
  });
  while (!signal.aborted) {
    const end =
      performance.now() >= endsAt ? "maximum" : await Promise.race([stopped, look(sandbox, seconds)]);
    if (end !== undefined) return end;
    // Three times a life, so that two moves may fail.
    const delay = Math.max(0, Math.min((seconds * 1000) / 3, endsAt - performance.now()));
    const later = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, delay);
      timer.unref?.();
    });
    await Promise.race([stopped, later]);
  }
  return "stopped";
}

/** Moves the deadline where that is needed. Gives why it will not be needed again, if so. */
async function look(sandbox: Keepable, seconds: number): Promise<KeepAliveEnd | undefined> {
  const left = seconds - sandbox.activity.idle / 1000;
  if (left <= 0) return "idle";
  // A deadline that is late enough, or none, is not made an earlier one.
  const isLate = (): boolean => (sandbox.remaining() ?? Number.POSITIVE_INFINITY) >= left * 1000;
  if (isLate()) return undefined;
  try {
    await sandbox.refresh();
    if (!isLate()) await sandbox.extend(Math.ceil(left));
    return undefined;
  } catch (error) {
    if (isGone(error)) return "gone";
    if (isClosed(error)) return "stopped";
    return (sandbox.remaining() ?? 0) > 0 ? undefined : "failed";
  }
}

/** Whether there is nothing left that a deadline could end, or nobody to tell. */
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
