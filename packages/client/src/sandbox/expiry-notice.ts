import { checkKnown } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { type Expiring, isOver as isSandboxOver } from "./deadline.js";

/** Options of `onExpiring`. */
export interface ExpiringOptions {
  /** Seconds before the deadline at which the callback is called, 0 to 86,400. Default 60. */
  leadSeconds?: number | undefined;
}

/**
 * Calls `callback` shortly before the sandbox's deadline, and once more for each later deadline set meanwhile. Asks the
 * control plane before each call, because another client may have moved the deadline. Returns a function that cancels the
 * notice. The timers do not keep the process alive.
 */
export function noticeExpiry<Subject>(
  sandbox: Expiring,
  callback: (subject: Subject) => unknown,
  subject: Subject,
  options: ExpiringOptions = {},
): () => void {
  checkKnown("onExpiring", options, { leadSeconds: true });
  const { leadSeconds = 60 } = options;
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
    const isGone = await isSandboxOver(sandbox);
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

/**
 * The longest delay that `setTimeout` accepts, in milliseconds. Without a deadline the timer waits this long, then checks
 * again.
 */
const longestWait = 2_147_483_647;
