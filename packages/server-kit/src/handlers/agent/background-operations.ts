import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";
import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import type { Outcome } from "./outcome.js";

export interface BackgroundDescription {
  /** Prefix of the execution's id, by which clients tell commands from code. */
  readonly kind: "cmd" | "proc";
  readonly name?: string | undefined;
  readonly language?: string | undefined;
}

export type BackgroundStatus = NonNullable<AgentSchemas["ProcessInfo"]["status"]>;

/** The part of an outcome that is kept apart from the output. */
export type BackgroundOutcome = Pick<Outcome, "reason" | "exitCode" | "duration">;

/** The part of an outcome that only the interpreter of a context reports. */
export type BackgroundValues = Pick<
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

/** An output stream of an execution. */
export interface BackgroundOutput {
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

/** A background execution: a program that no caller waits for, running or finished. */
export interface BackgroundExecution {
  /** Id of the execution. */
  readonly id: string;
  readonly pid: number;
  readonly description: BackgroundDescription;
  readonly stdout: BackgroundOutput;
  readonly stderr: BackgroundOutput;
  readonly startedAt: Date;
  /** When the execution ended. Absent while it runs. */
  readonly endedAt: Date | undefined;
  /** Absent while the execution runs, and if the agent could not determine the outcome. */
  readonly outcome: BackgroundOutcome | undefined;
  /** Absent while the execution runs, and if the values are no longer kept. */
  readonly values?: BackgroundValues | undefined;
  readonly status: BackgroundStatus;
  /** Seconds since the start, or in total once the execution has ended. */
  readonly duration: number;
  /** Resolves when the execution has ended. */
  readonly ended: Promise<void>;
  /** Kills the execution and all processes it started. Resolves when none of them is left. */
  kill(): Promise<void>;
}

export function statusOf({
  endedAt,
  outcome,
}: Pick<BackgroundExecution, "endedAt" | "outcome">): BackgroundStatus {
  if (!endedAt) return "running";
  if (outcome?.reason === "killed") return "killed";
  return outcome?.exitCode === 0 ? "completed" : "failed";
}

/** The executions of a sandbox. `get` throws {@link executionNotFound} for an unknown id. */
export interface ExecutionSource {
  list(): readonly BackgroundExecution[];
  get(id: string): BackgroundExecution;
}

/** The operations on background executions. */
export function backgroundOperations(executions: ExecutionSource) {
  return {
    listExecutions() {
      const processes = executions.list().map(backgroundFields);
      return { processes, count: processes.length, timestamp: now() };
    },

    async getExecutionOutput({ params, query, signal }) {
      const execution = executions.get(params.process_id);
      if (query.wait > 0) await endOrTimeLimit(execution, query.wait, signal);
      // Read the execution's state before the output: if the execution has ended now, the output read below is complete.
      const { status, endedAt } = execution;
      const outcome = outcomeFields(execution);
      const [stdout, stderr] = await Promise.all([
        execution.stdout.piece(query.stdout_offset, query.limit),
        execution.stderr.piece(query.stderr_offset, query.limit),
      ]);
      return {
        process_id: execution.id,
        execution_id: execution.id,
        status,
        duration: execution.duration,
        ...outcome,
        ...(query.values && displayFields(execution)),
        ...(execution.stdout.file !== undefined && { stdout_file: execution.stdout.file }),
        ...(execution.stderr.file !== undefined && { stderr_file: execution.stderr.file }),
        stdout: stdout.text,
        ...(stdout.base64 !== undefined && { stdout_base64: stdout.base64 }),
        stdout_start: stdout.start,
        stdout_offset: stdout.end,
        stdout_bytes: execution.stdout.bytes,
        stderr: stderr.text,
        ...(stderr.base64 !== undefined && { stderr_base64: stderr.base64 }),
        stderr_start: stderr.start,
        stderr_offset: stderr.end,
        stderr_bytes: execution.stderr.bytes,
        complete:
          endedAt !== undefined &&
          stdout.end >= execution.stdout.bytes &&
          stderr.end >= execution.stderr.bytes,
        timestamp: now(),
      };
    },

    killExecution: ({ query }) => kill(executions.get(query.process_id)),
    killExecutionById: ({ params }) => kill(executions.get(params.process_id)),
    killProcess: ({ params }) => kill(executions.get(params.process_id)),
  } satisfies AnyAgentHandlers;
}

const nameField = ({ description: { name } }: BackgroundExecution) => name !== undefined && { name };

const outcomeFields = ({ outcome }: BackgroundExecution) =>
  outcome && {
    exit_code: outcome.exitCode,
    termination_reason: outcome.reason,
    ...(outcome.reason === "interrupted" && {
      error:
        "The sandbox's agent was killed while the execution ran, by code in the sandbox or because memory ran out; the execution's processes were ended with it.",
    }),
  };

function displayFields({ values }: BackgroundExecution) {
  const { result, displays, displaysDropped, exception, contextLost } = values ?? {};
  return {
    ...(exception && { exception }),
    ...(contextLost && { context_lost: true }),
    ...(result !== undefined && { result }),
    ...(displays && { rich_outputs: [...displays] }),
    ...(displaysDropped !== undefined && { rich_outputs_dropped: displaysDropped }),
  };
}

export const startedFields = (execution: BackgroundExecution) => ({
  process_id: execution.id,
  execution_id: execution.id,
  status: execution.status,
  start_time: execution.startedAt.toISOString(),
  message: `${execution.id} was started.`,
  ...nameField(execution),
});

function backgroundFields(execution: BackgroundExecution) {
  const { description } = execution;
  const startTime = execution.startedAt.toISOString();
  const endTime = execution.endedAt?.toISOString();
  return {
    process_id: execution.id,
    execution_id: execution.id,
    ...nameField(execution),
    status: execution.status,
    ...(description.language !== undefined && { language: description.language }),
    pid: execution.pid,
    start_time: startTime,
    started_at: startTime,
    ...(endTime !== undefined && { end_time: endTime, completed_at: endTime }),
    ...outcomeFields(execution),
    duration: execution.duration,
    stdout_bytes: execution.stdout.bytes,
    stderr_bytes: execution.stderr.bytes,
  };
}

/** Resolves when the execution has ended, when the time is over, or when the caller disconnects. */
async function endOrTimeLimit(
  { ended }: BackgroundExecution,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
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

/** Kills an execution. An execution that has already ended is not an error; the message says so. */
async function kill(execution: BackgroundExecution) {
  const wasRunning = execution.status === "running";
  await execution.kill();
  const { status } = execution;
  const message =
    wasRunning && status === "killed" ? `${execution.id} was killed.` : `${execution.id} had already ended.`;
  return { success: true, message, process_id: execution.id, status, timestamp: now() };
}

export const executionNotFound = (id: string): Problem =>
  new Problem(404, "PROCESS_NOT_FOUND", `There is no background execution ${id}.`, {
    hint: "List the executions to see those that are kept.",
    details: { process_id: id },
  });
