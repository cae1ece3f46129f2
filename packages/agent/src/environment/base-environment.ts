import { mkdtemp, rmdir } from "node:fs/promises";
import { join } from "node:path";

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * The environment that every program starts with: the agent's own, without the variables that are meant only for the
 * agent.
 */
export async function baseEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  temporary: string,
  hidden: readonly string[],
): Promise<Record<string, string>> {
  const environment: Record<string, string> = { PATH: path, LANG: "C.UTF-8", TERM: "xterm-256color" };
  for (const [name, value] of Object.entries(own)) {
    if (name.startsWith("CLOUD_SANDBOX_") || name === "NODE_OPTIONS" || hidden.includes(name)) continue;
    if (value !== undefined) environment[name] = value;
  }
  // Compilers and package managers keep caches in HOME. If HOME is unset or not writable, use the temporary
  // directory.
  if (!environment.HOME || !(await isWritable(environment.HOME))) environment.HOME = temporary;
  return environment;
}

/** Creates a directory as a test, because `access` checks the real uid and programs may run with another one. */
const isWritable = (directory: string) =>
  mkdtemp(join(directory, ".cloud-sandbox-"))
    .then(rmdir)
    .then(
      () => true,
      // A full disk still means that the directory is writable.
      (error: NodeJS.ErrnoException) => error.code === "ENOSPC",
    );
