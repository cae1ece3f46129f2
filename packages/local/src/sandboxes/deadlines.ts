/** A timer does not follow the clock when that is set forward, or when the machine was asleep: so it is looked at again. */
const lookEveryMs = 1000;

/** Calls once for each sandbox when its time has come. */
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
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.max(0, next), lookEveryMs)).unref();
  }

  #look(): void {
    const now = Date.now();
    for (const [id, at] of [...this.#deadlines]) {
      if (at > now) continue;
      this.#deadlines.delete(id);
      this.onPassed(id);
    }
    this.#schedule();
  }
}
