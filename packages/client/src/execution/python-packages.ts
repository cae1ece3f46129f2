import { checkKnown, type OptionNames } from "../config/options.js";
import { AbortError, invalidArgument, SandboxError } from "../errors/errors.js";
import type { BackgroundOptions } from "./background-options.js";
import type { Commands } from "./commands.js";
import type { Execution } from "./execution.js";

/** Options of `pythonPackages.install`. */
export interface InstallOptions extends Pick<BackgroundOptions, "env" | "signal"> {
  /** Time limit of the installation in seconds, a whole number from 1 to 86,400. Default 900. */
  timeoutSeconds?: number | undefined;
  /** Called with each line that pip writes, to show progress. */
  onLine?: ((line: string) => void) | undefined;
  /**
   * Package index to install from. An `http:` index is passed to pip as a trusted host. Default: pip's own, which is
   * pypi.org.
   */
  indexUrl?: string | undefined;
}

const installOptionNames: OptionNames<InstallOptions> = {
  env: true,
  signal: true,
  timeoutSeconds: true,
  onLine: true,
  indexUrl: true,
};

/** Installs packages for a sandbox's Python. */
export class PythonPackages {
  readonly #commands: Commands;

  /** @internal */
  static of(commands: Commands): PythonPackages {
    return new PythonPackages(commands);
  }

  private constructor(commands: Commands) {
    this.#commands = commands;
  }

  /**
   * Installs packages, given in pip's syntax, such as `numpy` or `pandas>=2` (POST /commands/background). The sandbox
   * must be able to reach the index. Code that runs later can import the packages. Throws a `SandboxError`
   * (PACKAGES_NOT_INSTALLED) with the end of pip's output. If `signal` fires, pip is killed.
   */
  async install(requirements: readonly string[], options: InstallOptions = {}): Promise<void> {
    checkKnown("pythonPackages.install", options, installOptionNames);
    const { env, onLine, signal, timeoutSeconds: timeout = 900 } = options;
    const command = [...pip, ...indexOptions(options.indexUrl), "--", ...checked(requirements)];
    const execution = await this.#commands.runBackground(command, {
      env,
      name: "pip",
      signal,
      timeoutSeconds: timeout,
    });
    try {
      const lines = new LastLines(onLine);
      for await (const { text } of execution.follow({ signal })) lines.write(text);
      lines.end();
      const { exitCode, success, terminationReason } = await execution.wait({ signal });
      if (!success) throw notInstalled(terminationReason ?? `exit code ${exitCode}`, lines.last);
    } catch (error) {
      if (error instanceof AbortError) await stop(execution);
      throw error;
    }
  }
}

const pip = [
  ...["python3", "-m", "pip", "install"],
  ...["--no-input", "--no-color", "--progress-bar", "off", "--disable-pip-version-check"],
];
/** Lines of pip's output shown in the error: pip writes the cause of a failure last. */
const lastLines = 20;
const longestLine = 500;

function indexOptions(url: string | undefined): string[] {
  if (url === undefined) return [];
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalidArgument("indexUrl must be an http(s) address.");
  const { host, protocol } = new URL(url);
  return ["--index-url", url, ...(protocol === "http:" ? ["--trusted-host", host] : [])];
}

function checked(requirements: readonly string[]): readonly string[] {
  if (!Array.isArray(requirements) || requirements.length === 0)
    throw invalidArgument("requirements must list packages.");
  // Refuse options such as `--target` here, with a clearer message than pip's.
  return requirements.map((requirement) => {
    if (typeof requirement === "string" && /^[A-Za-z0-9][^\n\r\0]{0,499}$/.test(requirement.trim()))
      return requirement.trim();
    throw invalidArgument(
      `${JSON.stringify(requirement)?.slice(0, 80)} is not a package in pip's syntax, such as "numpy" or "pandas>=2".`,
    );
  });
}

/** Splits output into lines and keeps the last of them. */
class LastLines {
  readonly last: string[] = [];
  #rest = "";

  constructor(private readonly onLine: ((line: string) => void) | undefined) {}

  write(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = (lines.pop() ?? "").slice(-longestLine);
    for (const line of lines) this.#add(line);
  }

  end(): void {
    this.#add(this.#rest);
  }

  #add(line: string): void {
    const shown = line.trimEnd().slice(0, longestLine);
    if (shown === "") return;
    this.last.push(shown);
    if (this.last.length > lastLines) this.last.shift();
    this.onLine?.(shown);
  }
}

function notInstalled(why: string, lines: readonly string[]): SandboxError {
  return new SandboxError({
    summary: `The packages could not be installed (${why}):\n${lines.join("\n")}\n`,
    hint: "Correct the package names; the sandbox needs internet access.",
    code: "PACKAGES_NOT_INSTALLED",
  });
}

/** Kills pip. Ignores failures: if the sandbox is gone, pip is gone too. */
async function stop(execution: Execution): Promise<void> {
  await execution.kill().catch(() => undefined);
}
