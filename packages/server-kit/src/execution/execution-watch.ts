import { RunTimeLimit } from "./run-time-limit.js";
import type { Intervention } from "./termination.js";

/** Milliseconds between SIGTERM and killing the program and its descendants. */
const killGrace = 250;

/** A program that runs as a process. */
export interface RunningProgram {
  /** Sends SIGTERM to the program's process group. */
  terminate(): void;
  /** Kills the program and its descendants. Resolves when they are gone. */
  sweep(): Promise<void>;
}

/** Ends a program when its time limit is over or its caller disconnected. */
export class ExecutionWatch {
  intervention: Intervention;
  readonly #limit: RunTimeLimit;
  #sweep: NodeJS.Timeout | undefined;
  #swept: Promise<void> | undefined;

  constructor(
    private readonly program: RunningProgram,
    timeout: number,
    private readonly signal: AbortSignal,
  ) {
    this.#limit = new RunTimeLimit(timeout, () => this.#intervene("timeout"));
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort);
  }

  /** Call when the program has ended. If this watch ended it, resolves once all its descendants are gone. */
  async stop(): Promise<void> {
    this.#limit.clear();
    clearTimeout(this.#sweep);
    this.signal.removeEventListener("abort", this.#abort);
    if (this.intervention !== undefined) await (this.#swept ?? this.program.sweep());
  }

  readonly #abort = () => this.#intervene("killed");

  #intervene(intervention: Intervention): void {
    if (this.intervention !== undefined) return;
    this.intervention = intervention;
    this.program.terminate();
    this.#sweep = setTimeout(() => {
      this.#swept = this.program.sweep();
      // `stop` reports what fails.
      this.#swept.catch(() => undefined);
    }, killGrace);
  }
}
