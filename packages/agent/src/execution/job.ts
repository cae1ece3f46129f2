import { randomBytes } from "node:crypto";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { Outcome } from "./outcome.js";
import type { OutputPiece } from "./output-piece.js";

export interface JobDescription {
  /** What its id starts with, by which clients tell commands from code. */
  readonly kind: "cmd" | "proc";
  readonly name?: string | undefined;
  readonly language?: string | undefined;
}

export type JobStatus = NonNullable<AgentSchemas["ProcessInfo"]["status"]>;

/** Of an outcome, what is worth keeping beside the output itself. */
export type JobOutcome = Pick<Outcome, "reason" | "exitCode" | "duration">;

export interface JobEnd extends JobOutcome {
  readonly at: Date;
}

/** What a job writes, or has written. */
export interface JobOutput {
  /** Bytes so far. */
  readonly bytes: number;
  /** At most `limit` bytes (4 at least) from `offset` on. */
  piece(offset: number, limit: number): Promise<OutputPiece>;
}

/** A program that runs without anybody waiting for it, or what is known of it when it has ended. */
export interface Job {
  readonly id: string;
  readonly executionId: string;
  readonly pid: number;
  readonly description: JobDescription;
  readonly stdout: JobOutput;
  readonly stderr: JobOutput;
  readonly startedAt: Date;
  /** Absent while it runs. */
  readonly endedAt: Date | undefined;
  /** Absent while it runs, and when the agent failed to find it out. */
  readonly outcome: JobOutcome | undefined;
  readonly status: JobStatus;
  /** Seconds so far, or in all. */
  readonly duration: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Ends it with everything it started; resolves when nothing of it is left. */
  kill(): Promise<void>;
}

export const newJobId = ({ kind }: JobDescription) =>
  `${kind}_${Date.now()}${randomBytes(4).toString("hex")}`;

export function statusOf({ endedAt, outcome }: Pick<Job, "endedAt" | "outcome">): JobStatus {
  if (!endedAt) return "running";
  if (outcome?.reason === "killed") return "killed";
  return outcome?.exitCode === 0 ? "completed" : "failed";
}
