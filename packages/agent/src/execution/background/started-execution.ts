import type { KeptOutput } from "@cloud-sandbox/server-kit/execution";
import {
  type BackgroundDescription,
  type BackgroundExecution,
  type BackgroundOutcome,
  type BackgroundStatus,
  type BackgroundValues,
  statusOf,
} from "@cloud-sandbox/server-kit/handlers";
import type { Execution } from "../programs/executor.js";
import type { BackgroundEnd } from "./background-end.js";

/** A background execution that this agent started. */
export class StartedExecution implements BackgroundExecution {
  readonly id: string;
  readonly pid: number;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly startedAt = new Date();
  readonly ended: Promise<void>;
  values: BackgroundValues | undefined;
  #outcome: BackgroundOutcome | undefined;
  #endedAt: Date | undefined;

  constructor(
    { id, pid, stdout, stderr, outcome }: Execution,
    readonly description: BackgroundDescription,
    private readonly end: AbortController,
    /** Saves the execution's end. Runs before `ended` resolves, so that the end is on disk before it is reported. */
    record: (execution: BackgroundExecution, end: BackgroundEnd) => Promise<void>,
  ) {
    this.id = id;
    this.pid = pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.ended = outcome
      .then(async ({ reason, exitCode, duration, ...values }) => {
        const end = { reason, exitCode, duration, at: new Date() };
        const { result, displays, displaysDropped, exception, contextLost } = values;
        this.values = {
          ...(result !== undefined && { result }),
          ...(displays && { displays }),
          ...(displaysDropped && { displaysDropped }),
          ...(exception && { exception }),
          ...(contextLost && { contextLost }),
        };
        await record(this, end);
        this.#outcome = end;
        this.#endedAt = end.at;
      })
      .catch((error: unknown) => {
        console.error(`${this.id}:`, error);
        this.#endedAt = new Date();
      });
  }

  get endedAt(): Date | undefined {
    return this.#endedAt;
  }

  get outcome(): BackgroundOutcome | undefined {
    return this.#outcome;
  }

  get status(): BackgroundStatus {
    return statusOf(this);
  }

  get duration(): number {
    return this.#outcome?.duration ?? (Number(this.#endedAt ?? Date.now()) - this.startedAt.getTime()) / 1000;
  }

  async kill(): Promise<void> {
    this.end.abort();
    await this.ended;
  }
}
