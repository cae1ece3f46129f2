export type BuildStatus = "building" | "publishing" | "active" | "failed";

/** What is remembered of a build, also over a restart. */
export interface BuildRecord {
  readonly id: string;
  readonly templateId: string;
  readonly status: BuildStatus;
  /** Per cent. */
  readonly progress: number;
  readonly currentStep: string;
  readonly startedAt: string;
  readonly completedAt: string | undefined;
  readonly error: string | undefined;
  readonly log: string;
  /** What its layer was made from, step by step: builds that begin alike begin with it. */
  readonly stepKeys: readonly string[];
}

export const hasEnded = ({ status }: Pick<BuildRecord, "status">): boolean =>
  status === "active" || status === "failed";
