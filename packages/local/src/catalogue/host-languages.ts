import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { tryOnce } from "../runtime/host/host-trial.js";

const run = promisify(execFile);

const unknown = "unknown";

export interface HostLanguage {
  readonly language: "python" | "javascript" | "bash" | "go";
  /** The version as `--version` prints it, for example `3.11.2`. */
  readonly version: string;
}

const tools = [
  { language: "python", program: "python3", args: ["--version"] },
  { language: "javascript", program: "node", args: ["--version"] },
  { language: "bash", program: "bash", args: ["--version"] },
  { language: "go", program: "go", args: ["version"] },
] as const;

/** The languages of an image. `run` starts a program in a machine of the image and resolves with its output. */
export async function languagesIn(
  run: (program: string, args: readonly string[]) => Promise<string>,
): Promise<readonly HostLanguage[]> {
  const found: HostLanguage[] = [];
  for (const { language, program, args } of tools) {
    const version = /\d+(\.\d+)+/.exec(await run(program, args).catch(() => ""))?.[0];
    if (version !== undefined) found.push({ language, version });
  }
  return found;
}

/** The languages available in sandboxes, which see only the host's `/usr` and its Node.js. */
export async function findHostLanguages(): Promise<readonly HostLanguage[]> {
  const directories = ["/usr/local/bin", "/usr/bin", dirname(process.execPath)];
  const found = await Promise.all(
    tools.map(async ({ language, program, args }) => {
      const path = directories
        .map((directory) => join(directory, program))
        .find((candidate) => existsSync(candidate));
      if (path === undefined) return undefined;
      const isKnown = (version: string): boolean => version !== unknown;
      const version = await tryOnce(
        `version-${program}`,
        { programs: [path] },
        () => versionOf(path, args),
        isKnown,
      );
      return { language, version };
    }),
  );
  return found.filter((language) => language !== undefined);
}

async function versionOf(path: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(path, [...args], { timeout: 10_000 }).catch(() => ({ stdout: "" }));
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? unknown;
}
