import { checkKnown, checkSeconds, lifetime } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { type KeepAliveEnd, type KeptSandbox, keepAliveLoop } from "./deadline.js";

/** Options of `keepAlive`. */
export interface KeepAliveOptions {
  /** Seconds that the sandbox lives on after its last use, a whole number from 10 to 86,400. Default 300. */
  seconds?: number | undefined;
  /** Seconds after which `keepAlive` ends even if the sandbox is in use. Default: no such limit. */
  maxSeconds?: number | undefined;
}

/**
 * Moves a sandbox's deadline while this client makes calls to the sandbox, and ends when there were none for `seconds`.
 * Its timers do not keep the process alive. Leaving the scope of `using` ends it as `stop()` does: the sandbox keeps the
 * deadline it has.
 */
export class KeepAlive implements Disposable {
  readonly #stopping = new AbortController();
  /** Resolves with the reason when the deadline is no longer moved. */
  readonly ended: Promise<KeepAliveEnd>;

  /** @internal */
  static of(sandbox: KeptSandbox, options: KeepAliveOptions): KeepAlive {
    return new KeepAlive(sandbox, options);
  }

  private constructor(sandbox: KeptSandbox, options: KeepAliveOptions) {
    checkKnown("keepAlive", options, { seconds: true, maxSeconds: true });
    const { maxSeconds, seconds = 300 } = options;
    if (lifetime(seconds, "seconds") < shortest)
      throw invalidArgument(`seconds must be ${shortest} or more; it is ${seconds}.`);
    checkSeconds("maxSeconds", maxSeconds);
    const endsAt = performance.now() + (maxSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    const { signal } = this.#stopping;
    this.ended = keepAliveLoop(sandbox, { seconds, endsAt, signal });
  }

  /** Stops moving the deadline. The sandbox keeps the deadline it has. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Same as `stop()`, at the end of the scope of `using`. */
  [Symbol.dispose](): void {
    this.stop();
  }
}

/** The smallest `seconds`. With a shorter one the sandbox could expire between two checks. */
const shortest = 10;
