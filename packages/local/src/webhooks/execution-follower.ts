import type { IncomingMessage } from "node:http";
import type { WebhookPayload } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import { answerJson } from "../agents/agent-answer.js";
import { PollBackoff } from "../relay/poll-backoff.js";

/** Seconds of a long poll: the agent answers when the code has ended, or after this time. */
const waitSeconds = 30;
/** Milliseconds between polls that fail or are answered at once: the first pause, and the longest. */
const firstPauseMs = 50;
const longestPauseMs = 5000;
/** Bytes of stdout, and of stderr, in a report. */
const reportedBytes = 256 * 1024;
const maxAnswerBytes = 4 * 1024 * 1024;

const count = z.int().check(z.nonnegative());
const stateAnswer = z.object({
  status: z.string(),
  exit_code: z.optional(z.int()),
  termination_reason: z.optional(z.string().check(z.maxLength(100))),
  duration: z.optional(z.number().check(z.nonnegative())),
  error: z.optional(z.string().check(z.maxLength(1000))),
  stdout: z.string(),
  stdout_bytes: count,
  stderr: z.string(),
  stderr_bytes: count,
});

type StateAnswer = z.infer<typeof stateAnswer>;
type Followed = Pick<Delivery, "sandboxId" | "executionId" | "createdAt">;

/** How an execution ended. */
export interface ExecutionOutcome {
  readonly outcome: "completed" | "failed" | "timeout" | "cut";
  readonly seconds: number;
  readonly exitCode?: number;
  /** Why the end is not known, with `cut`. */
  readonly reason?: string;
}

/** Sends a GET to a sandbox's agent; throws the problem that says why there is no answer. */
export type AskAgent = (sandboxId: string, path: string, signal: AbortSignal) => Promise<IncomingMessage>;

/** Waits for the ends of executions, including those that end because their sandbox ends. */
export class ExecutionFollower {
  constructor(private readonly ask: AskAgent) {}

  /** Resolves with the report when the execution has ended. Rejects only when `signal` aborts. */
  end(execution: Followed, signal: AbortSignal): Promise<WebhookPayload> {
    return this.#wait<WebhookPayload>(execution, signal, {
      ended: (state) => this.#report(execution, state, signal),
      lost: (reason) => lost(execution, reason),
    });
  }

  /** Resolves with how the execution ended, without its output. Rejects only when `signal` aborts. */
  outcome(execution: Followed, signal: AbortSignal): Promise<ExecutionOutcome> {
    return this.#wait<ExecutionOutcome>(execution, signal, {
      ended: async ({ exit_code: exitCode = 1, termination_reason: reason, duration }) => ({
        outcome: reason === "timeout" ? "timeout" : exitCode === 0 ? "completed" : "failed",
        seconds: duration ?? secondsSince(execution.createdAt),
        exitCode,
      }),
      lost: (reason) => ({ outcome: "cut", seconds: secondsSince(execution.createdAt), reason }),
    });
  }

  async #wait<Result>(
    execution: Followed,
    signal: AbortSignal,
    result: { ended(state: StateAnswer): Promise<Result>; lost(reason: string): Result },
  ): Promise<Result> {
    const backoff = new PollBackoff({
      firstMs: firstPauseMs,
      longestMs: longestPauseMs,
      longPollMs: waitSeconds * 500,
    });
    for (;;) {
      backoff.beginRequest();
      try {
        const state = await this.#read(execution, { wait: waitSeconds, limit: 16 }, signal);
        if (state.status !== "running") return await result.ended(state);
      } catch (error) {
        signal.throwIfAborted();
        const reason = finalReason(error);
        if (reason !== undefined) return result.lost(reason);
        // The agent is being restarted, or the sandbox is paused: ask again.
      }
      await backoff.pause(signal);
    }
  }

  async #read(
    { sandboxId, executionId }: Followed,
    query: Readonly<Record<string, number>>,
    signal: AbortSignal,
  ): Promise<StateAnswer> {
    const text = Object.entries(query).map(([name, value]) => `${name}=${value}`);
    const path = `/execute/processes/${encodeURIComponent(executionId)}/output?${text.join("&")}`;
    const answer = await this.ask(sandboxId, path, signal);
    const body = await answerJson(answer, maxAnswerBytes);
    if (answer.statusCode === 404)
      throw new Problem(404, "NOT_FOUND", `Sandbox ${sandboxId} no longer has a record of the execution.`);
    if (answer.statusCode !== 200) throw new Error(`The agent answered ${answer.statusCode}.`);
    return stateAnswer.parse(body);
  }

  async #report(execution: Followed, state: StateAnswer, signal: AbortSignal): Promise<WebhookPayload> {
    const reason = state.termination_reason ?? "exit";
    const exitCode = state.exit_code ?? 1;
    const error = state.error ?? reasons[reason];
    const [stdout, stderr] = [
      await this.#output(execution, "stdout", state, signal),
      await this.#output(execution, "stderr", state, signal),
    ];
    return {
      execution_id: execution.executionId,
      status: reason === "timeout" ? "timeout" : exitCode === 0 ? "completed" : "failed",
      success: exitCode === 0,
      stdout,
      stderr,
      exit_code: exitCode,
      execution_time: state.duration ?? secondsSince(execution.createdAt),
      timestamp: new Date().toISOString(),
      ...(error !== undefined && { error }),
      sandbox_id: execution.sandboxId,
      termination_reason: reason,
      stdout_truncated: state.stdout_bytes > reportedBytes,
      stderr_truncated: state.stderr_bytes > reportedBytes,
    };
  }

  /** The whole output, or, if it is too long, its beginning and its end with a line between them that says how much was cut. */
  async #output(
    execution: Followed,
    name: "stdout" | "stderr",
    state: StateAnswer,
    signal: AbortSignal,
  ): Promise<string> {
    const total = state[`${name}_bytes`];
    if (total === 0) return "";
    const other = name === "stdout" ? "stderr" : "stdout";
    const piece = async (offset: number, limit: number): Promise<string> => {
      const offsets = { [`${name}_offset`]: offset, [`${other}_offset`]: state[`${other}_bytes`] };
      // Cut the output here too: code in the sandbox may have replaced the agent and send more than `limit`.
      return (await this.#read(execution, { ...offsets, limit }, signal))[name].slice(0, limit);
    };
    if (total <= reportedBytes) return piece(0, reportedBytes);
    const half = reportedBytes / 2;
    const [head, tail] = [await piece(0, half), await piece(total - half, half)];
    return `${head}\n[... ${total - reportedBytes} bytes cut ...]\n${tail}`;
  }
}

const reasons: Readonly<Record<string, string>> = {
  timeout: "The code exceeded its time limit and was ended.",
  killed: "The execution was killed on request.",
  out_of_memory: "The code went over the sandbox's memory limit and was killed.",
  signal: "A signal ended the code: something in the sandbox sent it, or the sandbox was stopped.",
  interrupted: "The code did not finish, because the program that ran it ended.",
};

/** Why the agent will never answer: its sandbox is gone, or was stopped. Undefined if a later request may succeed. */
function finalReason(error: unknown): string | undefined {
  const isFinal =
    error instanceof Problem &&
    (error.status === 404 || error.status === 410 || error.code === "SANDBOX_STOPPED");
  return isFinal ? `The code did not finish: ${error.message}` : undefined;
}

/** The report of an execution that ended with its sandbox. Exit code 137, because the sandbox's end kills its processes. */
const lost = ({ sandboxId, executionId, createdAt }: Followed, error: string): WebhookPayload => ({
  execution_id: executionId,
  status: "failed",
  success: false,
  stdout: "",
  stderr: "",
  exit_code: 137,
  execution_time: secondsSince(createdAt),
  timestamp: new Date().toISOString(),
  error,
  sandbox_id: sandboxId,
  termination_reason: "interrupted",
});

const secondsSince = (date: Date): number => Math.max(0, Date.now() - date.getTime()) / 1000;
