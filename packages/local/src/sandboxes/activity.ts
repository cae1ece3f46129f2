/** Knows whether anything is being worked on, so that what nobody waits for can wait for that. */
export class Activity {
  #inFlight = 0;
  #whenQuiet: (() => void)[] = [];

  /** Something begins; call what is returned when it has ended. */
  begin(): () => void {
    this.#inFlight += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#inFlight -= 1;
      if (this.#inFlight > 0) return;
      const waiting = this.#whenQuiet;
      this.#whenQuiet = [];
      for (const resolve of waiting) resolve();
    };
  }

  /** Resolves when nothing is in flight, or after `limitMs`: something always may be. */
  async quiet(limitMs: number): Promise<void> {
    if (this.#inFlight === 0) return;
    let limit: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenQuiet.push(resolve);
      limit = setTimeout(resolve, limitMs).unref();
    });
    clearTimeout(limit);
  }
}
