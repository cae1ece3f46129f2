import { stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { Problem } from "@cloud-sandbox/protocol/server";

/** There is no such program, or it may not be run. */
export class ProgramNotFound extends Error {
  constructor(
    readonly command: string,
    /** As shells have it: 127 when it is not there, 126 when it cannot be run. */
    readonly exitCode: 126 | 127,
  ) {
    super(`${command}: ${exitCode === 127 ? "command not found" : "cannot be executed"}`);
    this.name = "ProgramNotFound";
  }
}

/** Why a program could not be started. */
export async function startFailure(
  error: NodeJS.ErrnoException,
  command: string,
  cwd: string,
): Promise<Error> {
  switch (error.code) {
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
      return exhausted(
        "The sandbox has reached its limit of processes, open files or memory. End some, or wait until they end.",
      );
    case "E2BIG":
      return new Problem(
        400,
        "INVALID_REQUEST",
        "The arguments and environment variables are too long for a program.",
      );
    case "ENOENT":
    case "ENOTDIR":
    case "EACCES":
      return (
        (await workdirProblem(cwd)) ?? new ProgramNotFound(command, (await isThere(command)) ? 126 : 127)
      );
    default:
      return error;
  }
}

/** Whether there is such a file at all: a search path with a closed directory fails as one that cannot be executed. */
async function isThere(command: string): Promise<boolean> {
  const directories = command.includes("/") ? [""] : (process.env.PATH ?? "").split(delimiter);
  const found = await Promise.all(
    directories.map((directory) => stat(join(directory, command)).catch(() => undefined)),
  );
  return found.some((status) => status !== undefined);
}

export const exhausted = (message: string) =>
  new Problem(429, "RESOURCE_EXHAUSTED", message, { headers: { "retry-after": "1" } });

/** Why a program cannot be started there, where that is why. */
export async function workdirProblem(cwd: string): Promise<Problem | undefined> {
  const status = await stat(cwd).catch(() => undefined);
  if (status?.isDirectory()) return undefined;
  const what = status ? "is not a directory" : "does not exist";
  return new Problem(
    400,
    "INVALID_REQUEST",
    `workdir ${cwd} ${what}. Create it with /files/mkdir, or leave it out.`,
    {
      details: { path: cwd },
    },
  );
}
