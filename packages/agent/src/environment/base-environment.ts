import { mkdtemp, rmdir } from "node:fs/promises";
import { join } from "node:path";

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What every program's environment starts from: the agent's own, without what is only for the agent. */
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
  // Compilers and package managers keep caches at home; without a home of its own a program uses the temporary files.
  if (!environment.HOME || !(await isWritable(environment.HOME))) environment.HOME = temporary;
  return environment;
}

/** Found by trying: `access` asks for the real uid, and programs may have another. */
const isWritable = (directory: string) =>
  mkdtemp(join(directory, ".cloud-sandbox-"))
    .then(rmdir)
    .then(
      () => true,
      // A full disk is one that can be written to.
      (error: NodeJS.ErrnoException) => error.code === "ENOSPC",
    );
