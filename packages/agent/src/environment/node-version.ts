import { execFile } from "node:child_process";
import { asProgram } from "../machine/program-identity.js";

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
