import { type Job, type JobDescription, jobNotFound } from "@cloud-sandbox/server-kit/handlers";
import type { OutputFiles } from "../output/output-files.js";
import type { Execution } from "../programs/executor.js";
import { BackgroundJob } from "./background-job.js";
import { newJobId } from "./job.js";
import type { JobRecords } from "./job-records.js";

export const keptJobs = 256;
/** Number of jobs whose displayed values are kept. The values of one job take up to 8 MiB. */
const keptValues = 8;

/**
 * The part of a job that its program is started with: the job's id, the signal that ends it, and the files for its
 * output.
 */
export interface JobTerms {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly background: OutputFiles;
}

/** The running jobs and the most recent finished ones, including those of an earlier agent in this sandbox. */
export class BackgroundJobs {
  readonly #jobs = new Map<string, Job>();

  constructor(
    private readonly files: OutputFiles,
    private readonly records: JobRecords,
  ) {}

  /** Loads the jobs of an earlier agent that was killed. */
  async recover(): Promise<void> {
    for (const job of await this.records.recover()) this.#jobs.set(job.id, job);
  }

  /**
   * Starts a program as a job. If the caller disconnects before it gets the answer, the program is not started or is
   * ended: nobody else knows the job's id.
   */
  async start(
    launch: (terms: JobTerms) => Promise<Execution>,
    description: JobDescription,
    caller: AbortSignal,
  ): Promise<Job> {
    const end = new AbortController();
    caller.addEventListener("abort", () => end.abort());
    if (caller.aborted) end.abort();
    const id = newJobId(description);
    const execution = await launch({ id, signal: end.signal, background: this.files });
    const job = new BackgroundJob(execution, description, end, async (ended, how) => {
      await recorded;
      await this.records.write(ended, how);
      this.#forgetOldValues();
    });
    // The record is written before the caller gets the answer, so that the job survives an agent that is killed.
    const recorded = this.records.write(job);
    this.#jobs.set(job.id, job);
    this.#forgetOldest();
    await recorded;
    return job;
  }

  /** All jobs, oldest first. */
  list(): Job[] {
    return [...this.#jobs.values()];
  }

  /** The job with that id. Throws a 404 problem if there is none. */
  get(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw jobNotFound(id);
  }

  #forgetOldValues(): void {
    const displaying = this.list().filter(({ values }) => values?.displays !== undefined);
    for (const job of displaying.slice(0, -keptValues))
      if (job instanceof BackgroundJob) job.values = undefined;
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
