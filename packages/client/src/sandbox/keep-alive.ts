import { checkSeconds } from "../config/option-checks.js";
import { lifetime } from "../config/time-limits.js";
import { invalidArgument } from "../errors/errors.js";
import type { KeepAliveEnd, Keepable } from "./deadline.js";

/** How long a sandbox is kept. */
export interface KeepAliveOptions {
  /** Seconds that the sandbox lives on after it was used last, 10 to 86,400, whole. Default 300. */
  seconds?: number | undefined;
  /** Seconds after which it is kept no longer, used or not. Default: no such limit. */
  maxSeconds?: number | undefined;
}

/**
 * Moves the deadline of a sandbox while calls to it are made from here, and ends by itself when there were none. None of its
 * timers keeps the process alive. Leaving the scope of `using` ends it too, and leaves the sandbox the deadline it has.
 */
export class KeepAlive implements Disposable {
  readonly #stopping = new AbortController();
  /** Resolves once the sandbox is kept no longer. */
  readonly ended: Promise<KeepAliveEnd>;

  /** @internal */
  static of(sandbox: Keepable, options: KeepAliveOptions): KeepAlive {
    return new KeepAlive(sandbox, options);
  }

  private constructor(sandbox: Keepable, { maxSeconds, seconds = 300 }: KeepAliveOptions) {
    if (lifetime(seconds, "seconds") < shortest)
      throw invalidArgument(`seconds must be ${shortest} or more; it is ${seconds}.`);
    checkSeconds("maxSeconds", maxSeconds);
    const endsAt = performance.now() + (maxSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    const { signal } = this.#stopping;
    this.ended = import("./deadline.js").then(({ kept }) => kept(sandbox, { seconds, endsAt, signal }));
  }

  /** Keeps it no longer. Its deadline stays where it is. */
  stop(): void {
    this.#stopping.abort();
  }

  /** As `stop`, at the end of the scope of `using`. */
  [Symbol.dispose](): void {
    this.stop();
  }
}

/** Seconds: a shorter life could end between two looks. */
const shortest = 10;
