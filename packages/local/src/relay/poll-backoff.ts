import { setTimeout as sleep } from "node:timers/promises";

export interface PollBackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A request that took at least this many milliseconds was a long poll that worked: the pause is reset to `firstMs`. */
  readonly longPollMs: number;
}

/** The pauses between long polls. They double while the server answers at once, so that a broken server is not flooded. */
export class PollBackoff {
  #pause: number;
  #requestStart = performance.now();

  constructor(private readonly options: PollBackoffOptions) {
    this.#pause = options.firstMs;
  }

  /** Records the start of a request. Call it right before each request. */
  beginRequest(): void {
    this.#requestStart = performance.now();
  }

  /** Resolves when the next request may be sent; rejects when `signal` aborts. */
  async pause(signal: AbortSignal): Promise<void> {
    const { firstMs, longestMs, longPollMs } = this.options;
    if (performance.now() - this.#requestStart >= longPollMs) this.#pause = firstMs;
    await sleep(this.#pause, undefined, { signal, ref: false });
    this.#pause = Math.min(this.#pause * 2, longestMs);
  }
}
