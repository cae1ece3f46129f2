import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Interpreter } from "./interpreter.js";

/**
 * Keeps one interpreter running in advance, so that the first execution of a context does not wait for it to start.
 */
export class WaitingInterpreter {
  /** Whether the interpreter has IPython. Undefined until the first one has reported it. */
  hasIpython: boolean | undefined;
  #waiting: Interpreter | undefined;
  /** The system packages that existed when the waiting interpreter was started. */
  #packages = "";
  #isStarting = false;
  /** Whether somebody has asked for an interpreter since the last one was started. */
  #isWanted = false;
  #limit: number | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly start: () => Promise<Interpreter>) {}

  /**
   * Starts an interpreter if none is waiting. Never fails: without one, each context starts its own. If `limit`
   * (milliseconds) is given, an interpreter that was not used by then is ended, because its memory is then worth more
   * than a fast start.
   */
  async prepare(limit?: number): Promise<void> {
    this.#limit = limit;
    this.#startEndTimer();
    if (this.#waiting?.isAlive || this.#isStarting || this.#isClosed) return;
    this.#isStarting = true;
    this.#isWanted = false;
    const packages = await systemPackages();
    const started = await this.start().catch(() => undefined);
    this.#isStarting = false;
    if (!started) return;
    if (this.#isClosed) return started.end();
    this.#waiting = started;
    this.#packages = packages;
    this.#startEndTimer();
    this.hasIpython = await started.hasIpython;
  }

  /** Starts an interpreter in the place of one that somebody has asked for. The limit of `prepare` begins anew in any case. */
  async renew(limit: number): Promise<void> {
    if (this.#isWanted) return this.prepare(limit);
    this.#limit = limit;
    this.#startEndTimer();
  }

  /**
   * Takes the waiting interpreter, unless system packages have changed since it was started. The interpreter may be
   * about to exit; running code in it then reports that.
   */
  async take(): Promise<Interpreter | undefined> {
    this.#isWanted = true;
    const known = this.#packages;
    const waiting = this.#release();
    if (!waiting || known === (await systemPackages())) return waiting;
    void waiting.end();
    return undefined;
  }

  #startEndTimer(): void {
    clearTimeout(this.#endTimer);
    if (this.#limit === undefined) return;
    this.#endTimer = setTimeout(() => void this.#release()?.end(), this.#limit).unref();
  }

  #release(): Interpreter | undefined {
    clearTimeout(this.#endTimer);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting?.isAlive ? waiting : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#endTimer);
    await this.#waiting?.end();
  }
}

/**
 * The names of the Python packages installed system-wide. A package that the host installs while a sandbox runs
 * becomes visible in the sandbox, but the modification time of its directory, which belongs to the sandbox, does not
 * change: a Python that listed the directory earlier uses its cached listing and does not find the package.
 */
async function systemPackages(): Promise<string> {
  const pythons = await Promise.all(
    ["/usr/local/lib", "/usr/lib", "/usr/lib64"].map(async (directory) =>
      (await entries(directory))
        .filter((name) => /^python3(\.\d+)?$/.test(name))
        .map((name) => join(directory, name)),
    ),
  );
  const directories = pythons
    .flat()
    .flatMap((path) => [join(path, "site-packages"), join(path, "dist-packages")]);
  return (await Promise.all(directories.map(entries))).map((names) => names.sort().join("\0")).join("\n");
}

const entries = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);
