import { killGroup, sweepProcesses } from "./process-sweep.js";

/** Between asking a program to end and ending it. */
const killGrace = 250;

/** What was done to a program before it ended by itself. */
export type Intervention = "timeout" | "killed" | undefined;

/** Ends a program when its time is over or its caller has gone. */
export class ExecutionWatch {
  intervention: Intervention;
  readonly #timer: NodeJS.Timeout;
  #sweep: NodeJS.Timeout | undefined;
  #swept: Promise<void> | undefined;

  constructor(
    private readonly pid: number,
    private readonly id: string,
    timeout: number,
    private readonly signal: AbortSignal,
  ) {
    this.#timer = setTimeout(() => this.#intervene("timeout"), timeout);
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort);
  }

  /** To be called when the program has ended. Resolves when nothing is left of one that was made to end. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#sweep);
    this.signal.removeEventListener("abort", this.#abort);
    if (this.intervention !== undefined) await (this.#swept ?? sweepProcesses(this.pid, this.id));
  }

  readonly #abort = () => this.#intervene("killed");

  #intervene(intervention: Intervention): void {
    if (this.intervention !== undefined) return;
    this.intervention = intervention;
    killGroup(this.pid, "SIGTERM");
    this.#sweep = setTimeout(() => {
      this.#swept = sweepProcesses(this.pid, this.id);
    }, killGrace);
  }
}
