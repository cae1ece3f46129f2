/** Milliseconds between two looks at the clock. */
const step = 1000;
/** Milliseconds that a look may be late before the time in between counts as a pause: a busy machine delays it less. */
const lateness = 1000;

/**
 * Calls back when a program has run for some milliseconds. While the sandbox is paused, nothing in it runs, this timer included: that
 * time is not counted. A pause of less than a second is.
 */
export class RunTimeLimit {
  #left: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    milliseconds: number,
    private readonly onOver: () => void,
  ) {
    this.#left = milliseconds;
    this.#wait();
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    const wanted = Math.min(this.#left, step);
    const began = performance.now();
    this.#timer = setTimeout(() => {
      const passed = performance.now() - began;
      this.#left -= passed > wanted + lateness ? wanted : passed;
      if (this.#left > 0) this.#wait();
      else this.onOver();
    }, wanted);
  }
}
