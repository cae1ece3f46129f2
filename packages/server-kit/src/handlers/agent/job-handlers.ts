import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import type { Outcome } from "./outcome.js";

export interface JobDescription {
  /** Prefix of the job's id, by which clients tell commands from code. */
  readonly kind: "cmd" | "proc";
  readonly name?: string | undefined;
  readonly language?: string | undefined;
}

export type JobStatus = NonNullable<AgentSchemas["ProcessInfo"]["status"]>;

/** The part of an outcome that is kept apart from the output. */
export type JobOutcome = Pick<Outcome, "reason" | "exitCode" | "duration">;

/** The part of an outcome that only the interpreter of a context reports. */
export type JobValues = Pick<
  Outcome,
  "result" | "displays" | "displaysDropped" | "exception" | "contextLost"
>;

/**
 * A piece of an output, with the range of bytes it covers. If `start` is after the requested offset, the bytes
 * between were dropped.
 */
export interface OutputPiece {
  readonly text: string;
  /** The bytes, if they are not UTF-8: `text` has U+FFFD in their place. */
  readonly base64?: string | undefined;
  readonly start: number;
  /** Offset at which the next piece begins. */
  readonly end: number;
}

/** An output stream of a job. */
export interface JobOutput {
  /** Number of bytes written so far. */
  readonly bytes: number;
  /** Path of the file with the output, if there is one. */
  readonly file?: string | undefined;
  /**
   * Reads at most `limit` bytes from `offset` on. `limit` must be at least 4, the length of the longest UTF-8
   * character.
   */
  piece(offset: number, limit: number): Promise<OutputPiece>;
}

/** A background job: a program that no caller waits for, running or finished. */
export interface Job {
  /** Id of the job and of its execution. */
  readonly id: string;
  readonly pid: number;
  readonly description: JobDescription;
  readonly stdout: JobOutput;
  readonly stderr: JobOutput;
  readonly startedAt: Date;
  /** When the job ended. Absent while it runs. */
  readonly endedAt: Date | undefined;
  /** Absent while the job runs, and if the agent could not determine the outcome. */
  readonly outcome: JobOutcome | undefined;
  /** Absent while the job runs, and if the values are no longer kept. */
  readonly values?: JobValues | undefined;
  readonly status: JobStatus;
  /** Seconds since the start, or in total once the job has ended. */
  readonly duration: number;
  /** Resolves when the job has ended. */
  readonly ended: Promise<void>;
  /** Kills the job and all processes it started. Resolves when none of them is left. */
  kill(): Promise<void>;
}

export function statusOf({ endedAt, outcome }: Pick<Job, "endedAt" | "outcome">): JobStatus {
  if (!endedAt) return "running";
  if (outcome?.reason === "killed") return "killed";
  return outcome?.exitCode === 0 ? "completed" : "failed";
}

/** The jobs of a sandbox. `get` throws {@link jobNotFound} for an unknown id. */
export interface Jobs {
  list(): readonly Job[];
  get(id: string): Job;
}

/** The operations on background jobs. */
export function jobHandlers(jobs: Jobs) {
  return {
    listExecutions() {
      const processes = jobs.list().map(jobFields);
      return { processes, count: processes.length, timestamp: now() };
    },

    async getExecutionOutput({ params, query, signal }) {
      const job = jobs.get(params.process_id);
      if (query.wait > 0) await endOrTimeLimit(job, query.wait, signal);
      // Read the job's state before the output: if the job has ended now, the output read below is complete.
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
        ...(stdout.base64 !== undefined && { stdout_base64: stdout.base64 }),
        stdout_start: stdout.start,
        stdout_offset: stdout.end,
        stdout_bytes: job.stdout.bytes,
        stderr: stderr.text,
        ...(stderr.base64 !== undefined && { stderr_base64: stderr.base64 }),
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
  const { result, displays, displaysDropped, exception, contextLost } = values ?? {};
  return {
    ...(exception && { exception }),
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

/** Resolves when the job has ended, when the time is over, or when the caller disconnects. */
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

/** Kills a job. A job that has already ended is not an error; the message says so. */
async function kill(job: Job) {
  const wasRunning = job.status === "running";
  await job.kill();
  const { status } = job;
  const message =
    wasRunning && status === "killed" ? `${job.id} was killed.` : `${job.id} had already ended.`;
  return { success: true, message, process_id: job.id, status, timestamp: now() };
}

export const jobNotFound = (id: string): Problem =>
  new Problem(404, "PROCESS_NOT_FOUND", `There is no background job ${id}.`, {
    hint: "List the jobs to see those that are kept.",
    details: { process_id: id },
  });
