import type { Interpreter } from "./interpreter.js";

/** Keeps an interpreter started, so that the first execution of a context need not wait for its start. */
export class WaitingInterpreter {
  /** Whether it has IPython; unknown before one has said so. */
  hasIpython: boolean | undefined;
  #waiting: Interpreter | undefined;
  #isStarting = false;
  #patience: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly start: () => Promise<Interpreter>) {}

  /**
   * Starts one, if none is waiting. Never fails: without one, contexts start their own. With `limit`, in milliseconds,
   * it does not wait longer than that: where code runs seldom its memory is worth more than its start.
   */
  async prepare(limit?: number): Promise<void> {
    clearTimeout(this.#patience);
    if (limit !== undefined) this.#patience = setTimeout(() => void this.take()?.end(), limit).unref();
    if (this.#waiting?.isAlive || this.#isStarting || this.#isClosed) return;
    this.#isStarting = true;
    const started = await this.start().catch(() => undefined);
    this.#isStarting = false;
    if (!started) return;
    if (this.#isClosed) return started.end();
    this.#waiting = started;
    this.hasIpython = await started.hasIpython;
  }

  /** The one that waits. It may be about to end; who runs something in it is told. */
  take(): Interpreter | undefined {
    clearTimeout(this.#patience);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting?.isAlive ? waiting : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    await this.#waiting?.end();
  }
}
