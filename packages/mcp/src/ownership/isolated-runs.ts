/**
 * A queue for runs in sandboxes of their own, because a machine can boot and hold only a limited number of sandboxes. Further
 * runs wait here, and their progress says so.
 */

/** Sandboxes that may be starting at a time. */
const mostStarting = 16;

export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly report: (step: string) => void;
}

export class IsolatedRuns {
  #starting = 0;
  #running = 0;
  /** Callbacks of runs that wait for their turn to start, the oldest first. */
  readonly #queue = new Set<() => void>();
  /** Callbacks of runs that the service had no room for. They wait until another run of this queue has ended. */
  readonly #forRoom = new Set<() => void>();

  /**
   * Runs `work`, which calls `started` once its sandbox exists. When the service has no room for the sandbox, and other runs of
   * this queue still go on, `work` is called again after one of them ended. `isFull` says whether an error means "no room".
   */
  async run<Result>(
    work: (started: () => void) => Promise<Result>,
    isFull: (error: unknown) => boolean,
    options: WaitOptions,
  ): Promise<Result> {
    for (;;) {
      await this.#waitToStart(options).catch((error: unknown) => {
        // Wake the next waiting run: this one was woken because there is room, but it gives up.
        this.#wakeNext();
        throw error;
      });
      let isStarting = true;
      const started = (): void => {
        if (isStarting) this.#startNext();
        isStarting = false;
      };
      this.#running += 1;
      try {
        const result = await work(started);
        this.#running -= 1;
        started();
        this.#wakeNext();
        return result;
      } catch (error) {
        // Check also after `started` was called: code that needs no sandbox is refused only when it is sent.
        const isRefused = isFull(error);
        this.#running -= 1;
        started();
        if (!isRefused || this.#running === 0) {
          this.#wakeNext();
          throw error;
        }
        options.report(`Waiting for room: ${this.#running} other runs are under way`);
        await waitIn(this.#forRoom, options.signal);
      }
    }
  }

  /** Lets the first run that waits for room try again. */
  #wakeNext(): void {
    const [first] = this.#forRoom;
    first?.();
  }

  /** Waits until the run may begin. */
  async #waitToStart({ signal, report }: WaitOptions): Promise<void> {
    if (this.#starting >= mostStarting) {
      report(`Waiting for its turn: ${this.#queue.size + this.#starting} other runs start first`);
      // Do not count this run here: `#startNext` counts it in place of an earlier run, which is already counted.
      return waitIn(this.#queue, signal);
    }
    this.#starting += 1;
  }

  #startNext(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#starting -= 1;
    else next();
  }
}

/**
 * Waits until the callback that this adds to `line` is called. If the signal fires first, removes the callback and
 * rejects.
 */
function waitIn(line: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (end: () => void) => (): void => {
      line.delete(called);
      signal.removeEventListener("abort", aborted);
      end();
    };
    const called = leave(resolve);
    const aborted = leave(() => reject(signal.reason));
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", aborted);
    line.add(called);
  });
}
