import { randomBytes } from "node:crypto";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { Execution } from "./executor.js";
import type { KeptOutput } from "./kept-output.js";
import type { Outcome } from "./outcome.js";

export interface JobDescription {
  /** What its id starts with, by which clients tell commands from code. */
  readonly kind: "cmd" | "proc";
  readonly name?: string | undefined;
  readonly language?: string | undefined;
}

type JobStatus = NonNullable<AgentSchemas["ProcessInfo"]["status"]>;

/** Of an outcome, what is worth keeping beside the output itself. */
type JobOutcome = Pick<Outcome, "reason" | "exitCode" | "duration">;

/** A program that runs without anybody waiting for it, and what is known of it when it has ended. */
export class BackgroundJob {
  readonly id: string;
  readonly executionId: string;
  readonly pid: number;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly startedAt = new Date();
  #outcome: JobOutcome | undefined;
  #endedAt: Date | undefined;
  readonly #ended: Promise<void>;

  constructor(
    { id, pid, stdout, stderr, outcome }: Execution,
    readonly description: JobDescription,
    private readonly end: AbortController,
  ) {
    this.id = `${description.kind}_${Date.now()}${randomBytes(4).toString("hex")}`;
    this.executionId = id;
    this.pid = pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#ended = outcome
      .then(({ reason, exitCode, duration }) => {
        this.#outcome = { reason, exitCode, duration };
      })
      .catch((error: unknown) => console.error(`${this.id}:`, error))
      .finally(() => {
        this.#endedAt = new Date();
      });
  }

  /** Absent while it runs. */
  get endedAt(): Date | undefined {
    return this.#endedAt;
  }

  /** Absent while it runs, and when the agent failed to find it out. */
  get outcome(): JobOutcome | undefined {
    return this.#outcome;
  }

  get status(): JobStatus {
    if (!this.#endedAt) return "running";
    if (this.#outcome?.reason === "killed") return "killed";
    return this.#outcome?.exitCode === 0 ? "completed" : "failed";
  }

  /** Seconds so far, or in all. */
  get duration(): number {
    return this.#outcome?.duration ?? (Number(this.#endedAt ?? Date.now()) - this.startedAt.getTime()) / 1000;
  }

  /** Ends it with everything it started; resolves when nothing of it is left. */
  async kill(): Promise<void> {
    this.end.abort();
    await this.#ended;
  }
}
