/**
 * Runs in sandboxes of their own. A machine boots only so many sandboxes at a time well, and holds only so many: of hundreds of
 * calls at once, the others wait for their turn here, and are told so.
 */

/** Sandboxes that are being made at a time. */
const mostStarting = 16;

export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly report: (step: string) => void;
}

export class IsolatedRuns {
  #starting = 0;
  #running = 0;
  /** Who waits to begin, the first first. */
  readonly #queue = new Set<() => void>();
  /** Who waits until a sandbox is gone. */
  readonly #forRoom = new Set<() => void>();

  /**
   * Runs `work`, which calls `started` once its sandbox is there. Where the service has no room for it, and others of these runs
   * will make some, it is done again when one has ended: `isFull` says whether that is what a failure means, and nothing was run.
   */
  async run<Result>(
    work: (started: () => void) => Promise<Result>,
    isFull: (error: unknown) => boolean,
    options: WaitOptions,
  ): Promise<Result> {
    for (;;) {
      await this.#turn(options).catch((error: unknown) => {
        // Whoever has ended told this one alone that there is room.
        this.#tellOfRoom();
        throw error;
      });
      let isStarting = true;
      const started = (): void => {
        if (isStarting) this.#passTurn();
        isStarting = false;
      };
      this.#running += 1;
      try {
        const result = await work(started);
        this.#running -= 1;
        started();
        this.#tellOfRoom();
        return result;
      } catch (error) {
        const isRefused = isStarting && isFull(error);
        this.#running -= 1;
        started();
        if (!isRefused || this.#running === 0) {
          this.#tellOfRoom();
          throw error;
        }
        options.report(`Waiting for room: ${this.#running} other runs are under way`);
        await waitIn(this.#forRoom, options.signal);
      }
    }
  }

  #tellOfRoom(): void {
    const [first] = this.#forRoom;
    first?.();
  }

  /** Waits until it may begin. */
  async #turn({ signal, report }: WaitOptions): Promise<void> {
    if (this.#starting >= mostStarting) {
      report(`Waiting for its turn: ${this.#queue.size + this.#starting} other runs start first`);
      // A turn that is passed on stays counted.
      return waitIn(this.#queue, signal);
    }
    this.#starting += 1;
  }

  #passTurn(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#starting -= 1;
    else next();
  }
}

/** Waits in `line` until it is called; leaves it when the signal fires. */
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
