import { randomBytes } from "node:crypto";
import type { BackgroundDescription, BackgroundOutcome } from "@cloud-sandbox/server-kit/handlers";

export interface BackgroundEnd extends BackgroundOutcome {
  readonly at: Date;
}

/** A new id. The prefix tells commands from code. */
export const newBackgroundId = ({ kind }: BackgroundDescription) =>
  `${kind}_${Date.now()}${randomBytes(4).toString("hex")}`;
