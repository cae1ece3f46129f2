import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The path of the first executable file named `program` in a search path. */
export async function findExecutable(program: string, searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    const path = join(directory, program);
    const status = await stat(path).catch(() => undefined);
    if (status?.isFile() && mayExecute(status)) return path;
  }
  return undefined;
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
