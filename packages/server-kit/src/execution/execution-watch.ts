import type { Intervention } from "./execution-outcome.js";

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
interface RunningCode {
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

/** Milliseconds between two looks at the clock. */
const step = 1000;
/** Milliseconds that a look may be late before the time in between counts as a pause: a busy machine delays it less. */
const lateness = 1000;

/**
 * Calls back when a program has run for some milliseconds. While the sandbox is paused, nothing in it runs, this timer included: that
 * time is not counted. A pause of less than a second is.
 */
class RunTimeLimit {
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
