import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";

/** The path of the first executable file named `program` in a search path. */
export async function findExecutable(program: string, searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    const path = join(directory, program);
    const status = await stat(path).catch(() => undefined);
    if (status?.isFile() && mayExecute(status)) return path;
  }
  return undefined;
}

/** Where `spawn` looks for a command, in this order. */
export function candidatePaths(command: string, searchPath: string, cwd: string): string[] {
  if (command.includes("/")) return [resolve(cwd, command)];
  return searchPath.split(delimiter).map((directory) => resolve(cwd, directory, command));
}

/** The path of the file that `spawn` would start. If there is none, throws an error with the code that `spawn` would report. */
export function executablePath(command: string, searchPath: string, cwd: string): string {
  let code = "ENOENT";
  for (const path of candidatePaths(command, searchPath, cwd)) {
    try {
      const status = statSync(path);
      if (status.isFile() && mayExecute(status)) return path;
      code = "EACCES";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EACCES") code = "EACCES";
    }
  }
  throw Object.assign(new Error(`spawn ${command} ${code}`), { code, syscall: `spawn ${command}` });
}

/**
 * Whether the agent's effective user, as which programs run, may execute a file. Node's `access` checks the real
 * user, which may differ.
 */
function mayExecute({ mode, uid, gid }: Stats): boolean {
  const own = process.geteuid?.();
  if (own === 0) return (mode & 0o111) !== 0;
  if (own === uid) return (mode & 0o100) !== 0;
  return (mode & (process.getgroups?.().includes(gid) ? 0o010 : 0o001)) !== 0;
}
