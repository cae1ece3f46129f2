import type { Interpreter } from "./interpreter.js";

/** Keeps an interpreter started, so that the first execution of a context need not wait for its start. */
export class WaitingInterpreter {
  /** Whether it has IPython; unknown before one has said so. */
  hasIpython: boolean | undefined;
  #waiting: Interpreter | undefined;
  #isStarting = false;
  #isClosed = false;

  constructor(private readonly start: () => Promise<Interpreter>) {}

  /** Starts one, if none is waiting. Never fails: without one, contexts start their own. */
  async prepare(): Promise<void> {
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
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting?.isAlive ? waiting : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#waiting?.end();
  }
}
