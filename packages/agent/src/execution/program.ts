import type { Readable } from "node:stream";

/** A process to start. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** What it reads from standard input; nothing when absent. */
  readonly input?: string | Readable;
  /** Removes what was made for it. */
  readonly cleanUp?: () => Promise<void>;
}
