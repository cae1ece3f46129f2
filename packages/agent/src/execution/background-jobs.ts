import { type Job, type JobDescription } from "@cloud-sandbox/protocol/handlers";
import { BackgroundJob } from "./background-job.js";
import type { Executor, RunOptions } from "./executor.js";
import type { JobRecords } from "./job-records.js";
import type { OutputFiles } from "./output-files.js";
import type { Program } from "./program.js";

export const keptJobs = 256;

/** The jobs that run, and the latest of those that have ended; also those of an agent that ran here before. */
export class BackgroundJobs {
  readonly #jobs = new Map<string, Job>();

  constructor(
    private readonly executor: Executor,
    private readonly files: OutputFiles,
    private readonly records: JobRecords,
  ) {}

  /** Takes over what an agent that was killed has left. */
  async recover(): Promise<void> {
    for (const job of await this.records.recover()) this.#jobs.set(job.id, job);
  }

  async start(
    prepare: () => Program | Promise<Program>,
    place: Pick<RunOptions, "cwd" | "env" | "timeout">,
    description: JobDescription,
  ): Promise<Job> {
    const end = new AbortController();
    const options = { ...place, signal: end.signal, background: this.files };
    const execution = await this.executor.start(prepare, options);
    const job = new BackgroundJob(execution, description, end, async (ended, how) => {
      await recorded;
      await this.records.write(ended, how);
    });
    // Whoever is told of it, or of its end, can rely on it.
    const recorded = this.records.write(job);
    this.#jobs.set(job.id, job);
    this.#forgetOldest();
    await recorded;
    return job;
  }

  /** By the time they were started. */
  list(): Job[] {
    return [...this.#jobs.values()];
  }

  /** The job of that process or execution id; a 404 problem when there is none. */
  get(id: string): Job {
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
      if (!job.endedAt) continue;
      this.#jobs.delete(job.id);
      void this.records.remove(job);
    }
  }
}
