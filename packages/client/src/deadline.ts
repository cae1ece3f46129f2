/** What the control plane is asked as a deadline comes near: somebody else may have moved it. */
import { isSandboxError, NotFoundError, SandboxExpiredError } from "./errors.js";
import type { Expiring } from "./expiry-notice.js";
import type { KeepAliveEnd, Keepable } from "./keep-alive.js";

/** Moves the deadline to `seconds` from now, unless it is later. Gives why it will never be moved again, if so. */
export async function extended(sandbox: Keepable, seconds: number): Promise<KeepAliveEnd | undefined> {
  try {
    await sandbox.refresh();
    const remaining = sandbox.remaining();
    if (remaining !== undefined && remaining < seconds * 1000) await sandbox.extend(Math.ceil(seconds));
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
