import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { Problem } from "@cloud-sandbox/server-kit";

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
    case "ENAMETOOLONG":
    case "ELOOP":
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
  const found = await Promise.all(
    placesOf(command, process.env.PATH ?? "", "").map((path) => stat(path).catch(() => undefined)),
  );
  return found.some((status) => status !== undefined);
}

/** Fails with {@link ProgramNotFound} where a program could not be started from `cwd` with that search path. */
export async function requireProgram(command: string, searchPath: string, cwd: string): Promise<void> {
  let exitCode: 126 | 127 = 127;
  for (const path of placesOf(command, searchPath, cwd)) {
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) continue;
    const isExecutable = access(path, constants.X_OK).then(
      () => status.isFile(),
      () => false,
    );
    if (await isExecutable) return;
    exitCode = 126;
  }
  throw new ProgramNotFound(command, exitCode);
}

function placesOf(command: string, searchPath: string, cwd: string): string[] {
  if (command.includes("/")) return [resolve(cwd, command)];
  return searchPath.split(delimiter).map((directory) => resolve(cwd, directory, command));
}

export const exhausted = (message: string) =>
  new Problem(429, "RESOURCE_EXHAUSTED", message, { headers: { "retry-after": "1" } });

/** Why a program cannot be started there, where that is why. */
export async function workdirProblem(cwd: string): Promise<Problem | undefined> {
  const status = await stat(cwd).catch(() => undefined);
  if (status?.isDirectory()) return undefined;
  const what = status ? "is not a directory" : "does not exist";
  return new Problem(400, "INVALID_REQUEST", `workdir ${cwd} ${what}.`, {
    hint: "Create it with /files/mkdir, or leave it out.",
    details: { path: cwd },
  });
}
