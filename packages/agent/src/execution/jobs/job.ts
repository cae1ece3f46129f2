import { randomBytes } from "node:crypto";
import type { JobDescription, JobOutcome } from "@cloud-sandbox/server-kit/handlers";

export interface JobEnd extends JobOutcome {
  readonly at: Date;
}

/** Of the job and of its execution, which are one. */
export const newJobId = ({ kind }: JobDescription) =>
  `${kind}_${Date.now()}${randomBytes(4).toString("hex")}`;
