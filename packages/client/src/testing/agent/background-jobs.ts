import {
  type Job,
  type JobDescription,
  type JobOutcome,
  type JobStatus,
  type Jobs,
  type JobValues,
  jobNotFound,
  statusOf,
} from "@cloud-sandbox/server-kit/handlers";
import type { TestingClock } from "../memory/testing-clock.js";
import type { RunningProgram } from "./running-program.js";

/** The background programs of a sandbox, running and ended. */
export class BackgroundJobs implements Jobs {
  readonly #jobs = new Map<string, Job>();

  constructor(private readonly clock: TestingClock) {}

  add(program: RunningProgram, description: JobDescription): Job {
    const job = new ProgramJob(program, description, this.clock);
    this.#jobs.set(job.id, job);
    return job;
  }

  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  get(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw jobNotFound(id);
  }
}

/** A new job id. Its prefix tells clients whether the job is a command or code. */
export const newJobId = (kind: JobDescription["kind"]): string =>
  `${kind}_${globalThis.crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`;

class ProgramJob implements Job {
  readonly ended: Promise<void>;
  endedAt: Date | undefined;
  outcome: JobOutcome | undefined;
  values: JobValues | undefined;
  readonly #program: RunningProgram;

  constructor(
    program: RunningProgram,
    readonly description: JobDescription,
    private readonly clock: TestingClock,
  ) {
    this.#program = program;
    this.ended = program.outcome
      .then(({ reason, exitCode, duration, ...values }) => {
        this.outcome = { reason, exitCode, duration };
        this.values = values;
      })
      // Ignore the error: the test's handler threw, so the job failed without a result.
      .catch(() => undefined)
      .finally(() => {
        this.endedAt = clock.now();
      });
  }

  get id(): string {
    return this.#program.id;
  }

  get pid(): number {
    return this.#program.pid;
  }

  get stdout() {
    return this.#program.stdout;
  }

  get stderr() {
    return this.#program.stderr;
  }

  get startedAt(): Date {
    return this.#program.startedAt;
  }

  get status(): JobStatus {
    return statusOf(this);
  }

  get duration(): number {
    const until = this.endedAt ?? this.clock.now();
    return this.outcome?.duration ?? (until.getTime() - this.startedAt.getTime()) / 1000;
  }

  async kill(): Promise<void> {
    this.#program.kill();
    await this.ended;
  }
}
