import type { Intervention } from "../programs/execution-watch.js";
import { type ContextExecution, kill, sweepContext, sweepExecution } from "../programs/process-sweep.js";

/** After an interrupt, until what the code waits for is killed, in milliseconds: `os.system` waits for its child. */
const childGrace = 200;
/** Between further interrupts, in milliseconds: one at the wrong moment has no effect. */
const interruptInterval = 250;
/** After an interrupt, until the interpreter is killed, in milliseconds. */
const interpreterGrace = 2000;

/** Interrupts code when its time is over or its caller has gone, and ends its interpreter when that does not help. */
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

  /** To be called when the code has ended. Resolves when nothing is left of what it started, if it was made to end. */
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
      // After a stall of this machine both the time is over and the news of the code's end is there: it is read first.
      setTimeout(() => setImmediate(() => this.#endInterpreter()), interpreterGrace),
    );
  }

  #endInterpreter(): void {
    const { interpreter, contextId } = this.execution;
    if (!this.#isStopped) void sweepContext(interpreter, contextId);
  }
}
