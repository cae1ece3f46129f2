import type { Mounts, Secrets } from "cloud-sandbox";
import type { TemplateChoice } from "../chosen-template.js";

/** The options of `run`, as the command line gives them. */
export interface RunOptions extends TemplateChoice {
  readonly code?: string;
  readonly language?: string;
  readonly timeout: number;
  readonly internet?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly mount?: Mounts;
  readonly secret?: Secrets;
  readonly savePlots?: string;
  /** A directory that the program works on a copy of. */
  readonly work?: string;
  /** Whether its changes are applied without a question. */
  readonly yes?: boolean;
}
