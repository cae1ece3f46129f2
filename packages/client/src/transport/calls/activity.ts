/** Records when this client last used a sandbox, and whether it is using it now. */
export class Activity {
  #running = 0;
  #last = performance.now();

  /** Records the start of a use. The returned function records its end. */
  begin(): () => void {
    this.#running++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running--;
      this.#last = performance.now();
    };
  }

  /** Milliseconds since the last use ended; 0 during a use. */
  get idle(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#last;
  }
}
