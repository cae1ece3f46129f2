import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { tryOnce } from "../runtime/host/host-trial.js";
import { type HostLanguage, languageTools } from "../runtime/language-tools.js";

const run = promisify(execFile);

const unknown = "unknown";

/**
 * The languages available in sandboxes that see the host's `/usr` and its Node.js. None on macOS, where there are no such
 * sandboxes, and where the command `python3` may open a window that asks to install it.
 */
export async function findHostLanguages(): Promise<readonly HostLanguage[]> {
  if (process.platform !== "linux") return [];
  const directories = ["/usr/local/bin", "/usr/bin", dirname(process.execPath)];
  const found = await Promise.all(
    languageTools.map(async ({ language, program, args }) => {
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
