import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/protocol/server";
import type { BackgroundJobs } from "../execution/background-jobs.js";
import type { Job } from "../execution/job.js";
import { languageOutOfReach } from "../execution/languages.js";
import { ProgramNotFound } from "../execution/start-failure.js";
import type { PrivateDirectory } from "../private-directory.js";
import { type AgentHandlers, now } from "./agent-handlers.js";
import {
  availableLanguage,
  commandProgram,
  type LanguageSupport,
  type Placed,
  placeOf,
} from "./program-requests.js";

export interface BackgroundParts extends LanguageSupport {
  readonly jobs: BackgroundJobs;
  readonly directory: PrivateDirectory;
  readonly workspace: string;
}

type CodeToStart = Placed & {
  readonly code: string;
  readonly language: string;
  readonly name?: string | null;
};

export function backgroundHandlers(parts: BackgroundParts) {
  const { jobs, directory, programs, workspace } = parts;

  async function startCode(body: CodeToStart): Promise<Job> {
    const language = await availableLanguage(body.language, parts);
    const description = { kind: "proc", name: body.name ?? undefined, language: language.name } as const;
    return jobs
      .start(() => language.program(body.code, directory), placeOf(body, workspace), description)
      .catch((error) => {
        throw error instanceof ProgramNotFound ? languageOutOfReach(language) : error;
      });
  }

  return {
    executeBackground: async ({ body }) => startedFields(await startCode(body)),

    async executeAsync({ body }) {
      const { id, executionId } = await startCode(body);
      return {
        execution_id: executionId,
        process_id: id,
        status: "queued",
        callback_url: body.callback_url,
        message: `${id} was started. Its end is reported to callback_url by the control plane, where there is one.`,
        timestamp: now(),
      };
    },

    async runCommandBackground({ body }) {
      const program = await commandProgram(body, programs);
      const description = { kind: "cmd", name: body.name ?? undefined } as const;
      const job = await jobs
        .start(() => program, placeOf(body, workspace), description)
        .catch((error) => {
          // Whoever does not wait for the end learns of it now or never.
          throw error instanceof ProgramNotFound ? commandNotFound(error) : error;
        });
      return { ...startedFields(job), pid: job.pid };
    },

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
        execution_id: job.executionId,
        status,
        duration: job.duration,
        ...outcome,
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
  } satisfies AgentHandlers;
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

const startedFields = (job: Job) => ({
  process_id: job.id,
  execution_id: job.executionId,
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
    execution_id: job.executionId,
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
  const done = new AbortController();
  const limit = sleep(seconds * 1000, undefined, {
    signal: AbortSignal.any([signal, done.signal]),
    ref: false,
  });
  await Promise.race([ended, limit.catch(() => undefined)]);
  done.abort();
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

export const commandNotFound = ({ message, command }: ProgramNotFound) =>
  new Problem(400, "INVALID_REQUEST", `${message}. Install it, or leave args out to write for the shell.`, {
    details: { command },
  });
