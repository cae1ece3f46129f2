import type { ChildProcess } from "node:child_process";
import type { EnvironmentVariables } from "../environment-variables.js";
import type { PrivateDirectory } from "../private-directory.js";
import { ExecutionWatch } from "./execution-watch.js";
import { OutOfMemoryCounter } from "./out-of-memory.js";
import { type Outcome, termination } from "./outcome.js";
import { OutputFiles } from "./output-files.js";
import { OutputPipes } from "./output-pipes.js";
import { executionMarker, sweepProcesses } from "./process-sweep.js";
import type { Program } from "./program.js";
import { SpareInterpreter } from "./spare-interpreter.js";
import { exhausted } from "./start-failure.js";
import { startProgram } from "./started-program.js";

export interface ExecutorOptions {
  readonly directory: PrivateDirectory;
  /** What every program's environment starts from. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
  readonly maxExecutions: number;
  readonly outputLimit: number;
  readonly outputFileLimit: number;
  /** The sandbox's limit, for messages. */
  readonly memoryMb: number | undefined;
  /** An interpreter to keep started, where there is one. */
  readonly spare?: Program | undefined;
}

export interface RunOptions {
  readonly cwd: string;
  /** Wins over the sandbox's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout: number;
  /** Ends the program. */
  readonly signal: AbortSignal;
}

/** Milliseconds. */
const spareDelay = 3;

/** Starts programs, each in a process group of its own, and stays with them to their end. */
export class Executor {
  /** Programs run so far, and those of them that failed. */
  readonly counts = { total: 0, failed: 0 };
  readonly #files: OutputFiles;
  readonly #outOfMemory = new OutOfMemoryCounter();
  /** Process ids of what runs, by execution. */
  readonly #running = new Map<string, number>();
  readonly #pipes: Promise<OutputPipes>;
  readonly #counted: Promise<unknown>;
  readonly #spare: SpareInterpreter | undefined;
  #active = 0;

  constructor(private readonly options: ExecutorOptions) {
    const { directory, maxExecutions, outputFileLimit, spare, baseEnvironment } = options;
    this.#files = new OutputFiles(directory, outputFileLimit);
    // Neither is waited for until a program needs it: the agent is asked whether it is there before that.
    this.#pipes = OutputPipes.create(directory, maxExecutions * 2);
    this.#counted = this.#outOfMemory.read();
    if (spare)
      this.#spare = new SpareInterpreter(async () =>
        startProgram(spare, "/", baseEnvironment, await this.#pipes),
      );
  }

  get active(): number {
    return this.#active;
  }

  /** Runs a program to its end, which its time limit or an abort may bring. A program that fails is a result. */
  async run(prepare: () => Program | Promise<Program>, options: RunOptions): Promise<Outcome> {
    const { maxExecutions } = this.options;
    if (this.#active >= maxExecutions)
      throw exhausted(`${maxExecutions} programs run already, the most at a time. Wait until one has ended.`);
    this.#active += 1;
    this.counts.total += 1;
    let program: Program | undefined;
    let succeeded = false;
    try {
      program = await prepare();
      const outcome = await this.#execute(program, options);
      succeeded = outcome.exitCode === 0;
      return outcome;
    } finally {
      this.#active -= 1;
      if (!succeeded) this.counts.failed += 1;
      // What the program keeps from being removed stays in the temporary files, where its owner can see it.
      await program?.cleanUp?.().catch(() => undefined);
      this.#prepareSpare();
    }
  }

  /** Once nothing runs for a moment: a start takes as much from what runs as a program does. */
  #prepareSpare(): void {
    setTimeout(() => {
      if (this.#active === 0) void this.#spare?.prepare();
    }, spareDelay).unref();
  }

  /** Runs a program that does nothing, so that the first real one finds the way trodden. It is not counted. */
  async warmUp(): Promise<void> {
    const signal = new AbortController().signal;
    await this.#execute({ command: "true", args: [], input: "" }, { cwd: "/", env: {}, timeout: 10, signal });
    await this.#spare?.prepare();
  }

  /** Kills everything that runs, with all that it started. */
  async close(): Promise<void> {
    this.#spare?.close();
    await this.#pipes;
    await Promise.all([...this.#running].map(([id, pid]) => sweepProcesses(pid, id)));
  }

  async #execute(program: Program, { cwd, env, timeout, signal }: RunOptions): Promise<Outcome> {
    const { baseEnvironment, variables, outputLimit } = this.options;
    const given = { ...Object.fromEntries(variables.entries()), ...env };
    const complete = { ...baseEnvironment, ...given };
    await this.#counted;
    const started = performance.now();
    const spare = await this.#spare?.take(program, cwd, given);
    const { id, child, pid, stdout, stderr, exit } =
      spare ?? (await startProgram(program, cwd, complete, await this.#pipes));
    const input = spare
      ? program.inputWhenWaiting?.(cwd, { ...complete, [executionMarker]: id })
      : program.input;
    const killsBefore = this.#outOfMemory.recent;
    this.#running.set(id, pid);
    const watch = new ExecutionWatch(pid, id, timeout * 1000, signal);
    stdout.start(child.stdout, outputLimit, () => this.#files.create(`${id}.stdout`));
    stderr.start(child.stderr, outputLimit, () => this.#files.create(`${id}.stderr`));
    feed(child, input);

    const [code, killer] = await exit;
    const duration = Math.round((performance.now() - started) * 1000) / 1e6;
    await watch.stop();
    this.#running.delete(id);
    const wasKilled = killer === "SIGKILL" || code === 137;
    const outOfMemory = wasKilled && (await this.#outOfMemory.read()) > killsBefore;
    const [out, err] = await Promise.all([stdout.finish(), stderr.finish()]);
    const end = termination(code, killer, watch.intervention, outOfMemory);
    const text = end.reason === "out_of_memory" ? withLine(err.text, this.#memoryMessage()) : err.text;
    return { ...end, pid, duration, stdout: out, stderr: { ...err, text } };
  }

  #memoryMessage(): string {
    const { memoryMb } = this.options;
    const limit = memoryMb === undefined ? "" : ` of ${memoryMb} MB`;
    return `Out of memory: the program went over the sandbox's limit${limit} and was killed.`;
  }
}

function feed({ stdin }: ChildProcess, input: string | undefined): void {
  // A program that ends without reading its input is not our failure.
  stdin?.on("error", () => undefined);
  stdin?.end(input);
}

const withLine = (text: string, line: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;
