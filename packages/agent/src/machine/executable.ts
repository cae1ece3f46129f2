import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** The path of the first such program in a search path. */
export async function findExecutable(program: string, searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    const path = join(directory, program);
    const status = await stat(path).catch(() => undefined);
    if (status?.isFile() && mayExecute(status)) return path;
  }
  return undefined;
}

/** For the effective ids, as which programs run: Node's `access` asks for the real ones, which may be others. */
function mayExecute({ mode, uid, gid }: Stats): boolean {
  const own = process.geteuid?.();
  if (own === 0) return (mode & 0o111) !== 0;
  if (own === uid) return (mode & 0o100) !== 0;
  return (mode & (process.getgroups?.().includes(gid) ? 0o010 : 0o001)) !== 0;
}
