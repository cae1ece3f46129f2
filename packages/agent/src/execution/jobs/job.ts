import { randomBytes } from "node:crypto";
import type { JobDescription, JobOutcome } from "@cloud-sandbox/server-kit/handlers";

export interface JobEnd extends JobOutcome {
  readonly at: Date;
}

/** A new id. The job and its execution share it. */
export const newJobId = ({ kind }: JobDescription) =>
  `${kind}_${Date.now()}${randomBytes(4).toString("hex")}`;
