/** Timers do not notice that the clock was set forward or that the machine slept, so the clock is read at this interval. */
const maxTimerMs = 1000;

/** Calls `onPassed` once for each sandbox whose deadline has passed. */
export class Deadlines {
  readonly #deadlines = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly onPassed: (id: string) => void) {}

  /** Replaces the sandbox's deadline. */
  set(id: string, at: Date): void {
    this.#deadlines.set(id, at.getTime());
    this.#schedule();
  }

  clear(id: string): void {
    this.#deadlines.delete(id);
    this.#schedule();
  }

  clearAll(): void {
    this.#deadlines.clear();
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#deadlines.size === 0) return;
    const next = Math.min(...this.#deadlines.values()) - Date.now();
    this.#timer = setTimeout(() => this.#expirePassed(), Math.min(Math.max(0, next), maxTimerMs)).unref();
  }

  #expirePassed(): void {
    const now = Date.now();
    for (const [id, at] of [...this.#deadlines]) {
      if (at > now) continue;
      this.#deadlines.delete(id);
      this.onPassed(id);
    }
    this.#schedule();
  }
}
