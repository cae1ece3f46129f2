import type { Readable } from "node:stream";

/** A program to start as a process. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to those of the request. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. Default: empty. */
  readonly input?: string | Readable;
  /** Deletes the files that were created for this program. */
  readonly cleanUp?: () => Promise<void>;
}

/** The variable with code for a shell. */
export const codeVariable = "CLOUD_SANDBOX_CODE";

/**
 * Runs shell code that is passed in an environment variable, because all users of the host can read command lines.
 */
export function shellProgram(shell: string, code: string): Program {
  return {
    command: shell,
    args: ["-c", `eval "unset ${codeVariable};$${codeVariable}"`],
    env: { [codeVariable]: code },
  };
}

/**
 * Whether a text can be passed in an environment variable. Linux allows at most 128 KiB for one, and no null byte.
 */
export const fitsVariable = (text: string) =>
  text.length < 100_000 && Buffer.byteLength(text) < 100_000 && !text.includes("\0");
