import { constants } from "node:fs";
import { access } from "node:fs/promises";

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What every program's environment starts from: the agent's own, without what is only for the agent. */
export async function baseEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  temporary: string,
): Promise<Record<string, string>> {
  const environment: Record<string, string> = { PATH: path, LANG: "C.UTF-8", TERM: "xterm-256color" };
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && !name.startsWith("CLOUD_SANDBOX_") && name !== "NODE_OPTIONS")
      environment[name] = value;
  }
  // Compilers and package managers keep caches at home; without a home of its own a program uses the temporary files.
  if (!environment.HOME || !(await isWritable(environment.HOME))) environment.HOME = temporary;
  return environment;
}

const isWritable = (directory: string) =>
  access(directory, constants.W_OK).then(
    () => true,
    () => false,
  );
