import { setTimeout as sleep } from "node:timers/promises";

export interface PaceOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** An answer that took this long was held back as it was asked to be: the next question may come at once. */
  readonly patientMs: number;
}

/** Asks again and again no faster than is good: what answers at once, and is not what it should be, is asked ever more seldom. */
export class Pace {
  #pause: number;
  #asked = performance.now();

  constructor(private readonly options: PaceOptions) {
    this.#pause = options.firstMs;
  }

  /** Something is asked now. */
  begin(): void {
    this.#asked = performance.now();
  }

  /** Resolves when it may be asked again; rejects when `signal` aborts. */
  async rest(signal: AbortSignal): Promise<void> {
    const { firstMs, longestMs, patientMs } = this.options;
    if (performance.now() - this.#asked >= patientMs) this.#pause = firstMs;
    await sleep(this.#pause, undefined, { signal, ref: false });
    this.#pause = Math.min(this.#pause * 2, longestMs);
  }
}
