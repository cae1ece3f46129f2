import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Problem } from "@cloud-sandbox/server-kit";
import { candidatePaths } from "../../machine/executable.js";
import { temporaryFileObstacle } from "../../machine/temporary-files.js";

/** Thrown when a program does not exist or must not be executed. */
export class ProgramNotFound extends Error {
  constructor(
    readonly command: string,
    /** The exit code that shells use: 127 if the program does not exist, 126 if it cannot be executed. */
    readonly exitCode: 126 | 127,
    /** The directory that has the program, if PATH was set to a value without it. */
    missing?: string,
  ) {
    const advice = missing === undefined ? "" : ` (PATH is set to a value without ${missing})`;
    super(`${command}: ${exitCode === 127 ? "command not found" : "cannot be executed"}${advice}`);
    this.name = "ProgramNotFound";
  }
}

/** Translates an error from `spawn` into one that says why the program could not be started. */
export async function startFailure(
  error: NodeJS.ErrnoException,
  command: string,
  cwd: string,
  searchPath = process.env.PATH ?? "",
): Promise<Error> {
  switch (error.code) {
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
      return exhausted(
        "The sandbox has reached its limit of processes, open files or memory. End some processes, or wait until they end.",
      );
    case "E2BIG":
      return new Problem(
        400,
        "INVALID_REQUEST",
        "The arguments and environment variables are too long for a program. Pass long values in a file.",
      );
    case "ENOENT":
    case "ENOTDIR":
    case "ENAMETOOLONG":
    case "ELOOP":
    case "EACCES":
      return (
        (await workdirProblem(cwd)) ??
        ((await firstOf(candidatePaths(command, searchPath, cwd))) === undefined
          ? notFound(command, cwd)
          : new ProgramNotFound(command, 126))
      );
    default:
      return error;
  }
}

/** The error for a program that is not in the search path, which may lack a directory of the usual one. */
async function notFound(command: string, cwd: string): Promise<ProgramNotFound> {
  const usual = await firstOf(candidatePaths(command, process.env.PATH ?? "", cwd));
  return new ProgramNotFound(command, 127, usual && dirname(usual));
}

/**
 * The first of these files that exists. Needed because `spawn` fails with the same error for a file
 * that cannot be executed and for a search path with an unreadable directory.
 */
async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return paths.find((_, index) => found[index] !== undefined);
}

/** Throws {@link ProgramNotFound} if the program could not be started from `cwd` with that search path. */
export async function requireProgram(command: string, searchPath: string, cwd: string): Promise<void> {
  let exitCode: 126 | 127 = 127;
  for (const path of candidatePaths(command, searchPath, cwd)) {
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) continue;
    const isExecutable = access(path, constants.X_OK).then(
      () => status.isFile(),
      () => false,
    );
    if (await isExecutable) return;
    exitCode = 126;
  }
  throw exitCode === 127 ? await notFound(command, cwd) : new ProgramNotFound(command, exitCode);
}

export const exhausted = (message: string) =>
  new Problem(429, "RESOURCE_EXHAUSTED", message, { headers: { "retry-after": "1" } });

/** Prepares what a program needs. If its code cannot be put into a file, rejects with the reason. */
export async function withFiles<Prepared>(prepare: () => Prepared | Promise<Prepared>): Promise<Prepared> {
  try {
    return await prepare();
  } catch (error) {
    const obstacle = temporaryFileObstacle(error);
    throw obstacle === undefined ? error : exhausted(`The code could not be put into a file: ${obstacle}.`);
  }
}

/** Returns a problem if `cwd` does not exist or is not a directory. */
export async function workdirProblem(cwd: string): Promise<Problem | undefined> {
  const status = await stat(cwd).catch(() => undefined);
  if (status?.isDirectory()) return undefined;
  const what = status ? "is not a directory" : "does not exist";
  return new Problem(400, "INVALID_REQUEST", `workdir ${cwd} ${what}.`, {
    hint: "Create the directory with /files/mkdir, or name another one as workdir, such as /tmp.",
    details: { path: cwd },
  });
}
