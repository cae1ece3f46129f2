import type { Interpreter } from "./interpreter.js";
import { systemPackages } from "./system-packages.js";

/** Keeps an interpreter started, so that the first execution of a context need not wait for its start. */
export class WaitingInterpreter {
  /** Whether it has IPython; unknown before one has said so. */
  hasIpython: boolean | undefined;
  #waiting: Interpreter | undefined;
  /** Those that the one that waits knows of. */
  #packages = "";
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
    if (limit !== undefined) this.#patience = setTimeout(() => void this.#release()?.end(), limit).unref();
    if (this.#waiting?.isAlive || this.#isStarting || this.#isClosed) return;
    this.#isStarting = true;
    const packages = await systemPackages();
    const started = await this.start().catch(() => undefined);
    this.#isStarting = false;
    if (!started) return;
    if (this.#isClosed) return started.end();
    this.#waiting = started;
    this.#packages = packages;
    this.hasIpython = await started.hasIpython;
  }

  /** The one that waits, if it knows of all packages. It may be about to end; who runs something in it is told. */
  async take(): Promise<Interpreter | undefined> {
    const known = this.#packages;
    const waiting = this.#release();
    if (!waiting || known === (await systemPackages())) return waiting;
    void waiting.end();
    return undefined;
  }

  #release(): Interpreter | undefined {
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
