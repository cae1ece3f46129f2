import { Problem } from "@cloud-sandbox/protocol/server";
import { BackgroundJob, type JobDescription } from "./background-job.js";
import type { Executor, RunOptions } from "./executor.js";
import type { Program } from "./program.js";

const keptJobs = 256;

/** The jobs that run, and the latest of those that have ended. */
export class BackgroundJobs {
  readonly #jobs = new Map<string, BackgroundJob>();

  constructor(private readonly executor: Executor) {}

  async start(
    prepare: () => Program | Promise<Program>,
    place: Pick<RunOptions, "cwd" | "env" | "timeout">,
    description: JobDescription,
  ): Promise<BackgroundJob> {
    const end = new AbortController();
    const execution = await this.executor.start(prepare, { ...place, signal: end.signal, background: true });
    const job = new BackgroundJob(execution, description, end);
    this.#jobs.set(job.id, job);
    this.#forgetOldest();
    return job;
  }

  /** By the time they were started. */
  list(): BackgroundJob[] {
    return [...this.#jobs.values()];
  }

  /** The job of that process or execution id; a 404 problem when there is none. */
  get(id: string): BackgroundJob {
    const job = this.#jobs.get(id) ?? this.list().find(({ executionId }) => executionId === id);
    if (job) return job;
    throw new Problem(
      404,
      "NOT_FOUND",
      `There is no background job ${id}. GET /execute/processes lists them; the oldest that ended are forgotten.`,
      { details: { process_id: id } },
    );
  }

  #forgetOldest(): void {
    for (const job of this.list()) {
      if (this.#jobs.size <= keptJobs) return;
      if (job.endedAt) this.#jobs.delete(job.id);
    }
  }
}
