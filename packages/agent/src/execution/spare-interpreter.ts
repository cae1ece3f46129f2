import { stat } from "node:fs/promises";
import type { Program } from "./program.js";
import type { StartedProgram } from "./started-program.js";

/**
 * Keeps an interpreter started and waiting for its program, so that an execution need not wait for its start. Each
 * runs one program and ends with it, as one started for it would.
 */
export class SpareInterpreter {
  #waiting: StartedProgram | undefined;
  #isStarting = false;
  #isClosed = false;

  constructor(private readonly start: () => Promise<StartedProgram>) {}

  /** Starts one, if none is waiting. Never fails: without one, executions start their own. */
  async prepare(): Promise<void> {
    if (this.#waiting || this.#isStarting || this.#isClosed) return;
    this.#isStarting = true;
    const spare = await this.start().catch(() => undefined);
    this.#isStarting = false;
    if (!spare) return;
    if (this.#isClosed) return end(spare);
    this.#waiting = spare;
    void spare.exit.then(() => {
      if (this.#waiting !== spare) return;
      this.#waiting = undefined;
      abandon(spare);
    });
  }

  /** The one that waits, if it can run `program` just as a fresh one would. Whoever took it sends it its input. */
  async take(
    program: Program,
    cwd: string,
    given: Readonly<Record<string, string>>,
  ): Promise<StartedProgram | undefined> {
    if (!this.#waiting || !program.inputWhenWaiting || !Object.entries(given).every(isTakenLate))
      return undefined;
    const directory = await stat(cwd).catch(() => undefined);
    if (!directory?.isDirectory() || cwd.includes("\0")) return undefined;
    const spare = this.#waiting;
    this.#waiting = undefined;
    return spare;
  }

  close(): void {
    this.#isClosed = true;
    if (this.#waiting) end(this.#waiting);
  }
}

/** Read by the interpreter, the loader or the C library when a process starts: too late for one that is waiting. */
const readAtStart = /^(PYTHON|LD_|LC_|MALLOC_|GLIBC_|GCONV_|LOCPATH$|LANG|PATH$|HOME$|TZ)/;

function isTakenLate([name, value]: readonly [string, string]): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !readAtStart.test(name) && !value.includes("\0");
}

function end({ child }: StartedProgram): void {
  child.kill("SIGKILL");
}

function abandon({ stdout, stderr }: StartedProgram): void {
  stdout.abandon();
  stderr.abandon();
}
