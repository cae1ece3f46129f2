/** Counts requests in flight, so that background work can wait until there are none. */
export class Activity {
  #inFlight = 0;
  #whenIdle: (() => void)[] = [];

  /** Counts one request as in flight, until the returned function is called, or for `limitMs` at most. */
  begin(limitMs?: number): () => void {
    this.#inFlight += 1;
    let limit: NodeJS.Timeout | undefined;
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(limit);
      this.#inFlight -= 1;
      if (this.#inFlight > 0) return;
      const waiting = this.#whenIdle;
      this.#whenIdle = [];
      for (const resolve of waiting) resolve();
    };
    if (limitMs !== undefined) limit = setTimeout(end, limitMs).unref();
    return end;
  }

  /** Resolves when no request is in flight, at the latest after `limitMs`, because a busy server may never be idle. */
  async idle(limitMs: number): Promise<void> {
    if (this.#inFlight === 0) return;
    let limit: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
      limit = setTimeout(resolve, limitMs).unref();
    });
    clearTimeout(limit);
  }
}
