import { type Job, type JobDescription, jobNotFound } from "@cloud-sandbox/server-kit/handlers";
import type { OutputFiles } from "../output/output-files.js";
import type { Execution } from "../programs/executor.js";
import { BackgroundJob } from "./background-job.js";
import { newJobId } from "./job.js";
import type { JobRecords } from "./job-records.js";

export const keptJobs = 256;
/** Jobs whose displayed values are kept: they take up to 8 MiB each. */
const keptValues = 8;

/** What makes a program a job: it has the job's id, the signal ends it, and its output goes to these files. */
export interface JobTerms {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly background: OutputFiles;
}

/** The jobs that run, and the latest of those that have ended; also those of an agent that ran here before. */
export class BackgroundJobs {
  readonly #jobs = new Map<string, Job>();

  constructor(
    private readonly files: OutputFiles,
    private readonly records: JobRecords,
  ) {}

  /** Takes over what an agent that was killed has left. */
  async recover(): Promise<void> {
    for (const job of await this.records.recover()) this.#jobs.set(job.id, job);
  }

  /**
   * Starts a program as a job. Where the caller goes away before he is told of it, it never begins, or is ended: nobody else
   * knows of it.
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

  /** The job of that id; a 404 problem when there is none. */
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
