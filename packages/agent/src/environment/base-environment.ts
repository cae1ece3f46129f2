import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { type AuthorityFiles, authorityEnvironment } from "@cloud-sandbox/server-kit/execution";
import { asProgram } from "../machine/program-identity.js";

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

/** The variables with which programs trust the host's own authorities, if the machine has their files. */
export function trustedAuthorities(files: AuthorityFiles | undefined): Record<string, string> {
  return files !== undefined && existsSync(files.own) ? authorityEnvironment(files) : {};
}

/** Milliseconds that a Node.js may take to tell its version: an image's `node` may be a program that never ends. */
const askLimit = 2000;

/**
 * Whether the Node.js on the search path has the option `--import`: version 18.18, or 19 and newer. Others exit at once where NODE_OPTIONS has it.
 * False if there is none, because any version may be installed later.
 */
export async function knowsImportOption(env: Readonly<Record<string, string>>): Promise<boolean> {
  const [major = 0, minor = 0] = (await nodeVersion(env)).split(".").map(Number);
  return major > 18 || (major === 18 && minor >= 18);
}

/** For example `20.19.2`. Empty if no Node.js tells its version. */
function nodeVersion(env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    const { file, args, identity } = asked(env) ?? {};
    if (file === undefined) return resolve("");
    const options = { ...identity, env, timeout: askLimit, killSignal: "SIGKILL", maxBuffer: 256 } as const;
    execFile(file, args, options, (_, stdout) => resolve(/^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? ""));
  });
}

function asked(env: Readonly<Record<string, string>>): ReturnType<typeof asProgram> | undefined {
  try {
    return asProgram("node", ["--version"], { env });
  } catch {
    // The launcher of gVisor's containers needs the path of a program that exists.
    return undefined;
  }
}
