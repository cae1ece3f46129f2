import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import type { Outcome } from "./outcome.js";

export interface JobDescription {
  /** What its id starts with, by which clients tell commands from code. */
  readonly kind: "cmd" | "proc";
  readonly name?: string | undefined;
  readonly language?: string | undefined;
}

export type JobStatus = NonNullable<AgentSchemas["ProcessInfo"]["status"]>;

/** Of an outcome, what is worth keeping beside the output itself. */
export type JobOutcome = Pick<Outcome, "reason" | "exitCode" | "duration">;

/** Of an outcome, what only the interpreter of a context tells. */
export type JobValues = Pick<Outcome, "result" | "displays" | "displaysDropped" | "contextLost">;

/** A piece of an output, by the bytes it covers. Between what was asked for and `start`, nothing is left. */
export interface OutputPiece {
  readonly text: string;
  readonly start: number;
  /** Where the next piece begins. */
  readonly end: number;
}

/** What a job writes, or has written. */
export interface JobOutput {
  /** Bytes so far. */
  readonly bytes: number;
  /** The file with all that is kept of it, where there is one. */
  readonly file?: string | undefined;
  /** At most `limit` bytes (4 at least) from `offset` on. */
  piece(offset: number, limit: number): Promise<OutputPiece>;
}

/** A program that runs without anybody waiting for it, or what is known of it when it has ended. */
export interface Job {
  /** Its execution's too. */
  readonly id: string;
  readonly pid: number;
  readonly description: JobDescription;
  readonly stdout: JobOutput;
  readonly stderr: JobOutput;
  readonly startedAt: Date;
  /** Absent while it runs. */
  readonly endedAt: Date | undefined;
  /** Absent while it runs, and when the agent failed to find it out. */
  readonly outcome: JobOutcome | undefined;
  /** Absent while it runs, and when they are no longer kept. */
  readonly values?: JobValues | undefined;
  readonly status: JobStatus;
  /** Seconds so far, or in all. */
  readonly duration: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Ends it with everything it started; resolves when nothing of it is left. */
  kill(): Promise<void>;
}

export function statusOf({ endedAt, outcome }: Pick<Job, "endedAt" | "outcome">): JobStatus {
  if (!endedAt) return "running";
  if (outcome?.reason === "killed") return "killed";
  return outcome?.exitCode === 0 ? "completed" : "failed";
}

/** Where jobs are found. `get` throws {@link jobNotFound} where there is none. */
export interface Jobs {
  list(): readonly Job[];
  get(id: string): Job;
}

/** What can be asked about jobs, and done to them. */
export function jobHandlers(jobs: Jobs) {
  return {
    listExecutions() {
      const processes = jobs.list().map(jobFields);
      return { processes, count: processes.length, timestamp: now() };
    },

    async getExecutionOutput({ params, query, signal }) {
      const job = jobs.get(params.process_id);
      if (query.wait > 0) await endOrTimeLimit(job, query.wait, signal);
      // Asked before the output is read: behind an end that is told there is none.
      const { status, endedAt } = job;
      const outcome = outcomeFields(job);
      const [stdout, stderr] = await Promise.all([
        job.stdout.piece(query.stdout_offset, query.limit),
        job.stderr.piece(query.stderr_offset, query.limit),
      ]);
      return {
        process_id: job.id,
        execution_id: job.id,
        status,
        duration: job.duration,
        ...outcome,
        ...(query.values && displayFields(job)),
        ...(job.stdout.file !== undefined && { stdout_file: job.stdout.file }),
        ...(job.stderr.file !== undefined && { stderr_file: job.stderr.file }),
        stdout: stdout.text,
        stdout_start: stdout.start,
        stdout_offset: stdout.end,
        stdout_bytes: job.stdout.bytes,
        stderr: stderr.text,
        stderr_start: stderr.start,
        stderr_offset: stderr.end,
        stderr_bytes: job.stderr.bytes,
        complete: endedAt !== undefined && stdout.end >= job.stdout.bytes && stderr.end >= job.stderr.bytes,
        timestamp: now(),
      };
    },

    killExecution: ({ query }) => kill(jobs.get(query.process_id)),
    killExecutionById: ({ params }) => kill(jobs.get(params.process_id)),
    killProcess: ({ params }) => kill(jobs.get(params.process_id)),
  } satisfies AnyAgentHandlers;
}

const nameField = ({ description: { name } }: Job) => name !== undefined && { name };

const outcomeFields = ({ outcome }: Job) =>
  outcome && {
    exit_code: outcome.exitCode,
    termination_reason: outcome.reason,
    ...(outcome.reason === "interrupted" && {
      error:
        "The sandbox's agent was killed while the job ran, by code in the sandbox or because memory ran out; the job's processes were ended with it.",
    }),
  };

function displayFields({ values }: Job) {
  const { result, displays, displaysDropped, contextLost } = values ?? {};
  return {
    ...(contextLost && { context_lost: true }),
    ...(result !== undefined && { result }),
    ...(displays && { rich_outputs: [...displays] }),
    ...(displaysDropped !== undefined && { rich_outputs_dropped: displaysDropped }),
  };
}

export const startedFields = (job: Job) => ({
  process_id: job.id,
  execution_id: job.id,
  status: job.status,
  start_time: job.startedAt.toISOString(),
  message: `${job.id} was started.`,
  ...nameField(job),
});

function jobFields(job: Job) {
  const { description } = job;
  const startTime = job.startedAt.toISOString();
  const endTime = job.endedAt?.toISOString();
  return {
    process_id: job.id,
    execution_id: job.id,
    ...nameField(job),
    status: job.status,
    ...(description.language !== undefined && { language: description.language }),
    pid: job.pid,
    start_time: startTime,
    started_at: startTime,
    ...(endTime !== undefined && { end_time: endTime, completed_at: endTime }),
    ...outcomeFields(job),
    duration: job.duration,
    stdout_bytes: job.stdout.bytes,
    stderr_bytes: job.stderr.bytes,
  };
}

/** Resolves when the job has ended, when the time is over, and when nobody waits any more. */
async function endOrTimeLimit({ ended }: Job, seconds: number, signal: AbortSignal): Promise<void> {
  let stop = (): void => undefined;
  const limit = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  await Promise.race([ended, limit]);
  signal.removeEventListener("abort", stop);
  stop();
}

/** One that has ended cannot be killed, and need not be: that is told, and is no error. */
async function kill(job: Job) {
  const wasRunning = job.status === "running";
  await job.kill();
  const { status } = job;
  const message =
    wasRunning && status === "killed" ? `${job.id} was killed.` : `${job.id} had already ended.`;
  return { success: true, message, process_id: job.id, status, timestamp: now() };
}

export const jobNotFound = (id: string): Problem =>
  new Problem(404, "PROCESS_NOT_FOUND", `There is no background job ${id}.`, { details: { process_id: id } });
