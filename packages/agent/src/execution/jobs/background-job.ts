import type { KeptOutput } from "@cloud-sandbox/server-kit/execution";
import {
  type Job,
  type JobDescription,
  type JobOutcome,
  type JobStatus,
  type JobValues,
  statusOf,
} from "@cloud-sandbox/server-kit/handlers";
import type { Execution } from "../programs/executor.js";
import type { JobEnd } from "./job.js";

/** A background job that this agent started. */
export class BackgroundJob implements Job {
  readonly id: string;
  readonly pid: number;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly startedAt = new Date();
  readonly ended: Promise<void>;
  values: JobValues | undefined;
  #outcome: JobOutcome | undefined;
  #endedAt: Date | undefined;

  constructor(
    { id, pid, stdout, stderr, outcome }: Execution,
    readonly description: JobDescription,
    private readonly end: AbortController,
    /** Saves the job's end. Runs before `ended` resolves, so that the end is on disk before it is reported. */
    record: (job: Job, end: JobEnd) => Promise<void>,
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

  get outcome(): JobOutcome | undefined {
    return this.#outcome;
  }

  get status(): JobStatus {
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
