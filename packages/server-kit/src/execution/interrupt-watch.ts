import { RunTimeLimit } from "./run-time-limit.js";
import type { Intervention } from "./termination.js";

/**
 * Milliseconds from the first SIGINT until processes that the code started are killed: `os.system`, for example,
 * waits for its child and ignores the interrupt.
 */
const childGrace = 200;
/** Milliseconds between repeated SIGINTs: one that arrives at the wrong moment has no effect. */
const interruptInterval = 250;
/** Milliseconds from the first SIGINT until the interpreter is killed. */
const interpreterGrace = 2000;

/** Code that an interpreter runs. */
export interface RunningCode {
  /** Sends SIGINT to the interpreter. */
  interrupt(): void;
  /** Kills the processes that the code started, but not the interpreter. Resolves when they are gone. */
  sweep(): Promise<void>;
  /** Kills the interpreter. */
  kill(): void;
}

/**
 * Interrupts code when its time limit is over or its caller disconnected, and kills the interpreter if that does not
 * end the code.
 */
export class InterruptWatch {
  intervention: Intervention;
  readonly #limit: RunTimeLimit;
  readonly #timers: NodeJS.Timeout[] = [];
  #isStopped = false;

  constructor(
    private readonly code: RunningCode,
    timeout: number,
    private readonly signal: AbortSignal,
  ) {
    this.#limit = new RunTimeLimit(timeout, () => this.#intervene("timeout"));
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort);
  }

  /** Call when the code has ended. If the code was interrupted, resolves once all processes it started are gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#limit.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    this.signal.removeEventListener("abort", this.#abort);
    if (this.intervention !== undefined) await this.code.sweep();
  }

  readonly #abort = () => this.#intervene("killed");

  #sweep(): void {
    // `stop` sweeps again, and reports what fails.
    this.code.sweep().catch(() => undefined);
  }

  #intervene(intervention: Intervention): void {
    if (this.intervention !== undefined) return;
    this.intervention = intervention;
    this.code.interrupt();
    this.#timers.push(
      setTimeout(() => this.#sweep(), childGrace),
      setInterval(() => this.code.interrupt(), interruptInterval),
      // After the machine stalled, the timer and the driver's report of the end may both be due. `setImmediate` lets
      // the report be read first, so that an interpreter that is already done is not killed.
      setTimeout(
        () =>
          setImmediate(() => {
            if (!this.#isStopped) this.code.kill();
          }),
        interpreterGrace,
      ),
    );
  }
}
