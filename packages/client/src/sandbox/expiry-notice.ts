import { invalidArgument } from "../errors/errors.js";
import type { Expiring } from "./deadline.js";

/** When `onExpiring` calls back. */
export interface ExpiringOptions {
  /** How long before the deadline the callback is called, in seconds, 0 or more. Default 60. */
  leadSeconds?: number | undefined;
}

/**
 * Calls back shortly before the deadline, and again before a later one that it was moved to meanwhile. Somebody else may have
 * moved it, so the control plane is asked first. No timer here keeps the process alive.
 */
export function noticeExpiry<Subject>(
  sandbox: Expiring,
  callback: (subject: Subject) => unknown,
  subject: Subject,
  { leadSeconds = 60 }: ExpiringOptions = {},
): () => void {
  if (typeof callback !== "function") throw invalidArgument("onExpiring needs a function to call.");
  if (!(leadSeconds >= 0 && leadSeconds <= 86_400))
    throw invalidArgument("leadSeconds must be a number of seconds from 0 to 86400.");
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const wait = (milliseconds: number): void => {
    if (isOver) return;
    timer = setTimeout(() => void look(), Math.min(Math.max(milliseconds, 0), longestWait));
    timer.unref?.();
  };
  const due = (): number => (sandbox.remaining() ?? longestWait) - leadSeconds * 1000;
  const look = async (): Promise<void> => {
    if (due() > 0) return wait(due());
    const isGone = await (await import("./deadline.js")).isOver(sandbox);
    if (isOver || isGone) return;
    if (due() > 0) return wait(due());
    await callback(subject);
    if (due() > 0) wait(due());
    else isOver = true;
  };
  wait(due());
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Milliseconds, what setTimeout can hold: a deadline that others set is seen when it has passed. */
const longestWait = 2_147_483_647;
