/** Whether a sandbox is used from here: what goes on now, and when the last thing ended. */
export class Activity {
  #running = 0;
  #last = performance.now();

  /** Something begins; it ends with the function that this gives. */
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

  /** Milliseconds since it was used; 0 while it is. */
  get idle(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#last;
  }
}
