import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import pLimit from "p-limit";
import type { SandboxRecord } from "./sandbox-record.js";

/** The most requests that may wait for one sandbox, and how many milliseconds each waits. */
const mostWaiting = 64;
const longestWaitMs = 30_000;
/** The pauses after failed starts, in milliseconds. They double from the first to the longest. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

interface Wake {
  waiting: number;
  /** The start that is under way. It never rejects. */
  starting: Promise<void> | undefined;
  /** Why the last start failed. Undefined if it did not. */
  failure: { readonly cause: unknown } | undefined;
  pauseMs: number;
  /** When another start may be tried, by `performance.now()`. */
  notBefore: number;
}

/**
 * Starts sandboxes that sleep for requests that wait: once for all of them. A request that leaves, or waits too long, does not end the
 * start. After a failed start requests are refused for a while, because a page that tries again and again must not boot for ever.
 */
export class SandboxWaker {
  readonly #wakes = new WeakMap<SandboxRecord, Wake>();
  /** Boots take the CPU: two are under way for each. */
  readonly #starts = pLimit(2 * availableParallelism());
  #waiting = 0;

  constructor(
    /** Starts or resumes a sandbox, after the steps that are under way. */
    private readonly start: (sandbox: SandboxRecord) => Promise<void>,
    private readonly limitMs = longestWaitMs,
  ) {}

  /** The requests that wait for a sandbox to start. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when the sandbox runs. Throws a 503 problem with `Retry-After` if it does not, or not in time. */
  async wake(sandbox: SandboxRecord): Promise<void> {
    const wake = this.#of(sandbox);
    const pauseMs = wake.notBefore - performance.now();
    if (wake.starting === undefined && wake.failure && pauseMs > 0)
      throw failed(sandbox, wake.failure.cause, pauseMs);
    if (wake.waiting >= mostWaiting)
      throw asleep(sandbox, `${mostWaiting} requests wait for its start already.`, firstPauseMs);
    wake.starting ??= this.#start(sandbox, wake);
    const late = new AbortController();
    wake.waiting += 1;
    this.#waiting += 1;
    try {
      const { limitMs } = this;
      const isLate = sleep(limitMs, true, { signal: late.signal, ref: false }).catch(() => false);
      if (await Promise.race([wake.starting, isLate]))
        throw asleep(sandbox, `its start takes longer than ${limitMs / 1000} s.`, firstPauseMs);
      if (wake.failure) throw failed(sandbox, wake.failure.cause, wake.notBefore - performance.now());
    } finally {
      late.abort();
      wake.waiting -= 1;
      this.#waiting -= 1;
    }
  }

  async #start(sandbox: SandboxRecord, wake: Wake): Promise<void> {
    try {
      await this.#starts(() => this.start(sandbox));
      wake.failure = undefined;
      wake.pauseMs = firstPauseMs;
    } catch (error) {
      wake.failure = { cause: error };
      wake.notBefore = performance.now() + wake.pauseMs;
      wake.pauseMs = Math.min(2 * wake.pauseMs, longestPauseMs);
    } finally {
      wake.starting = undefined;
    }
  }

  #of(sandbox: SandboxRecord): Wake {
    const known = this.#wakes.get(sandbox);
    if (known) return known;
    const wake: Wake = {
      waiting: 0,
      starting: undefined,
      failure: undefined,
      pauseMs: firstPauseMs,
      notBefore: 0,
    };
    this.#wakes.set(sandbox, wake);
    return wake;
  }
}

/** The problem of a failed start. One that says that the sandbox is gone or has failed stays as it is. */
function failed(sandbox: SandboxRecord, cause: unknown, pauseMs: number): Problem {
  if (!(cause instanceof Problem)) return asleep(sandbox, String(cause), pauseMs);
  if (cause.status === 404 || cause.status === 410) return cause;
  return asleep(sandbox, cause.summary, pauseMs, cause);
}

function asleep({ id }: SandboxRecord, reason: string, pauseMs: number, cause?: Problem): Problem {
  const seconds = String(Math.max(1, Math.ceil(pauseMs / 1000)));
  return new Problem(503, "SERVICE_UNAVAILABLE", `Sandbox ${id} sleeps and was not started: ${reason}`, {
    hint: [cause?.hint, `Try again in ${seconds} s.`].filter(Boolean).join(" "),
    headers: { "retry-after": seconds },
    details: { sandbox_id: id },
    cause,
  });
}
