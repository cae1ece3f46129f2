import { once } from "node:events";
import type { Readable } from "node:stream";
import { startProgram } from "../host/piped-program.js";
import { signalIfThere } from "../host/process-tree.js";
import type { DiskTarget } from "../sandbox-runtime.js";

/** Length of the end of the error output that an error tells. */
const keptErrorOutput = 4096;

/** A shell counts the limit of a file in these. */
const blockBytes = 512;

/** The exit code of a shell is that of `cat`, so the other descriptor tells that all was read. */
const writeScript = `ulimit -f "$1"; shift
{ "$@" 3>&- && echo read >&3; } | cat 3>&-
`;

/** The exit code of a shell whose last program was killed by SIGXFSZ. */
const tooLong = 128 + 25;

/** A program whose output is being written to a file. */
export interface WrittenOutput {
  /** Resolves when all is written. */
  readonly done: Promise<void>;
  kill(): void;
}

/**
 * Starts a program and writes its output to a file. Another process does that, which is not in control groups that the program enters: the
 * file's pages in memory would count as the program's. Throws a 503 problem if no program can be started now.
 */
export function writeOutput(
  program: readonly string[],
  { descriptor, mostBytes }: Pick<DiskTarget, "descriptor" | "mostBytes">,
): WrittenOutput {
  const blocks = Math.ceil(mostBytes / blockBytes);
  const shell = startProgram(["/bin/sh", "-c", writeScript, "write", String(blocks), ...program], {
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    // A group of its own, to be killed with all that it has started.
    detached: true,
    stdio: ["ignore", descriptor, "pipe", "pipe"],
  });
  const [, , errors, told] = shell.stdio as unknown as [null, null, Readable, Readable];
  let errorOutput = "";
  errors.setEncoding("utf8").on("data", (chunk: string) => {
    errorOutput = (errorOutput + chunk).slice(-keptErrorOutput);
  });
  let hasRead = false;
  told.on("data", () => {
    hasRead = true;
  });
  const done = once(shell, "close").then(([code]: unknown[]) => {
    if (code === 0 && hasRead) return;
    if (code === tooLong) throw new Error(`its files are more than ${mostBytes} bytes.`);
    const error = new Error(errorOutput.trim() || "it has ended");
    throw code !== 0 && errorOutput.includes("No space left on device")
      ? Object.assign(error, { code: "ENOSPC" })
      : error;
  });
  return { done, kill: () => signalIfThere(-(shell.pid ?? 0), "SIGKILL") };
}
