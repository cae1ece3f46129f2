import type { Readable } from "node:stream";

/** A process to start. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that it finds besides those of the call. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from standard input; nothing when absent. */
  readonly input?: string | Readable;
  /** Removes what was made for it. */
  readonly cleanUp?: () => Promise<void>;
}

const codeVariable = "CLOUD_SANDBOX_CODE";

/** Has a shell run code that it inherits: command lines are read by all users of the host, on which this sandbox is. */
export function shellProgram(shell: string, code: string): Program {
  return {
    command: shell,
    args: ["-c", `eval "unset ${codeVariable};$${codeVariable}"`],
    env: { [codeVariable]: code },
  };
}
