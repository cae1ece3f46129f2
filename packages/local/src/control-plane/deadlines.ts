/** Calls once for each sandbox when its time has come. */
export class Deadlines {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(private readonly onPassed: (id: string) => void) {}

  /** Replaces the sandbox's deadline. */
  set(id: string, at: Date): void {
    this.clear(id);
    const pass = (): void => {
      this.#timers.delete(id);
      this.onPassed(id);
    };
    this.#timers.set(id, setTimeout(pass, Math.max(0, at.getTime() - Date.now())).unref());
  }

  clear(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  clearAll(): void {
    for (const id of [...this.#timers.keys()]) this.clear(id);
  }
}
