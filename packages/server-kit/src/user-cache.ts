/** The user's directory for what can be made again, and the compiled code in it. */
import { mkdirSync, statSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** `$XDG_CACHE_HOME/cloud-sandbox`, else `~/.cache/cloud-sandbox`. A relative `$XDG_CACHE_HOME` counts as none. */
export function cacheDirectory({ XDG_CACHE_HOME: base }: NodeJS.ProcessEnv): string {
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".cache"), "cloud-sandbox");
}

/** The part of `node:module` that exists since Node.js 22.1. */
interface CompileCache {
  enableCompileCache?(directory: string): unknown;
}

/**
 * Stores what V8 compiles of modules that are loaded later, which makes the program's next start faster. Does nothing before Node.js
 * 22.1, if another user could change the directory, because compiled code is run as it is found, or if it cannot be made.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as CompileCache;
  if (!enableCompileCache) return;
  try {
    const directory = join(cacheDirectory(process.env), "compiled");
    if (isOwn(directory)) enableCompileCache(directory);
  } catch {
    // This user has no home directory.
  }
}

/** Whether the directory, which is made if there is none, belongs to this user, and no other can write to it. */
function isOwn(directory: string, others = 0o022): boolean {
  const uid = process.getuid?.();
  try {
    const status = statSync(directory, { throwIfNoEntry: false });
    if (status) return uid === undefined || (status.uid === uid && (status.mode & others) === 0);
    // Some systems let the user's group, which has no other members, write to all directories of the user.
    if (!isOwn(dirname(directory), 0o002)) return false;
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}
