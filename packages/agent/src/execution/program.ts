/** A process to start. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** What it reads from standard input; nothing when absent. */
  readonly input?: string;
  /** What it reads instead when it was started before it was known where, and with which variables, it shall run. */
  readonly inputWhenWaiting?: (cwd: string, env: Readonly<Record<string, string>>) => string;
  /** Removes what was made for it. */
  readonly cleanUp?: () => Promise<void>;
}
