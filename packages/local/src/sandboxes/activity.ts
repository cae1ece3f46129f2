/** Counts requests in flight, so that background work can wait until there are none. */
export class Activity {
  #inFlight = 0;
  #whenIdle: (() => void)[] = [];

  /** Counts one request as in flight, until the returned function is called. */
  begin(): () => void {
    this.#inFlight += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#inFlight -= 1;
      if (this.#inFlight > 0) return;
      const waiting = this.#whenIdle;
      this.#whenIdle = [];
      for (const resolve of waiting) resolve();
    };
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
