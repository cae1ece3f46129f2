import type { Intervention } from "@cloud-sandbox/server-kit/execution";
import { type ContextExecution, kill, sweepContext, sweepExecution } from "../programs/process-sweep.js";

/**
 * Milliseconds from the first SIGINT until processes that the code started are killed: `os.system`, for example,
 * waits for its child and ignores the interrupt.
 */
const childGrace = 200;
/** Milliseconds between repeated SIGINTs: one that arrives at the wrong moment has no effect. */
const interruptInterval = 250;
/** Milliseconds from the first SIGINT until the interpreter is killed. */
const interpreterGrace = 2000;

/**
 * Interrupts code when its time limit is over or its caller disconnected, and kills the interpreter if that does not
 * end the code.
 */
export class InterruptWatch {
  intervention: Intervention;
  readonly #timers: NodeJS.Timeout[];
  #isStopped = false;

  constructor(
    private readonly execution: ContextExecution,
    timeout: number,
    private readonly signal: AbortSignal,
  ) {
    this.#timers = [setTimeout(() => this.#intervene("timeout"), timeout)];
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort);
  }

  /** Call when the code has ended. If the code was interrupted, resolves once all processes it started are gone. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.signal.removeEventListener("abort", this.#abort);
    if (this.intervention !== undefined) await sweepExecution(this.execution);
  }

  readonly #abort = () => this.#intervene("killed");

  #intervene(intervention: Intervention): void {
    if (this.intervention !== undefined) return;
    this.intervention = intervention;
    const { interpreter } = this.execution;
    kill(interpreter, "SIGINT");
    this.#timers.push(
      setTimeout(() => void sweepExecution(this.execution), childGrace),
      setInterval(() => kill(interpreter, "SIGINT"), interruptInterval),
      // After the machine stalled, the timer and the driver's report of the end may both be due. `setImmediate` lets
      // the report be read first, so that an interpreter that is already done is not killed.
      setTimeout(() => setImmediate(() => this.#endInterpreter()), interpreterGrace),
    );
  }

  #endInterpreter(): void {
    const { interpreter, contextId } = this.execution;
    if (!this.#isStopped) void sweepContext(interpreter, contextId);
  }
}
