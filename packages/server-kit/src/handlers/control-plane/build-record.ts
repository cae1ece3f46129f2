export type BuildStatus = "building" | "publishing" | "active" | "failed";

/** The stored facts about a template build, which survive a restart. */
export interface BuildRecord {
  readonly id: string;
  readonly templateId: string;
  readonly status: BuildStatus;
  /** Progress in per cent. */
  readonly progress: number;
  readonly currentStep: string;
  readonly startedAt: string;
  readonly completedAt: string | undefined;
  readonly error: string | undefined;
  readonly log: string;
  /**
   * A key for each step that the build's layer contains. A later build whose first steps are the same starts from
   * this layer.
   */
  readonly stepKeys: readonly string[];
}

export const hasEnded = ({ status }: Pick<BuildRecord, "status">): boolean =>
  status === "active" || status === "failed";
