import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { EnvironmentVariables } from "../environment-variables.js";
import type { PrivateDirectory } from "../private-directory.js";
import { ExecutionWatch } from "./execution-watch.js";
import { OutOfMemoryCounter } from "./out-of-memory.js";
import { type Outcome, termination } from "./outcome.js";
import { OutputFiles } from "./output-files.js";
import { OutputPipes } from "./output-pipes.js";
import { executionMarker, sweepProcesses } from "./process-sweep.js";
import type { Program } from "./program.js";
import { ProgramOutput } from "./program-output.js";
import { exhausted, startFailure } from "./start-failure.js";

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

/** Starts programs, each in a process group of its own, and stays with them to their end. */
export class Executor {
  /** Programs run so far, and those of them that failed. */
  readonly counts = { total: 0, failed: 0 };
  readonly #files: OutputFiles;
  readonly #outOfMemory = new OutOfMemoryCounter();
  /** Process ids of what runs, by execution. */
  readonly #running = new Map<string, number>();
  #active = 0;

  private constructor(
    private readonly options: ExecutorOptions,
    private readonly pipes: OutputPipes,
  ) {
    this.#files = new OutputFiles(options.directory, options.outputFileLimit);
  }

  static async create(options: ExecutorOptions): Promise<Executor> {
    const executor = new Executor(
      options,
      await OutputPipes.create(options.directory, options.maxExecutions * 2),
    );
    await executor.#outOfMemory.read();
    return executor;
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
    }
  }

  /** Runs a program that does nothing, so that the first real one finds the way trodden. It is not counted. */
  async warmUp(): Promise<void> {
    const signal = new AbortController().signal;
    await this.#execute({ command: "true", args: [], input: "" }, { cwd: "/", env: {}, timeout: 10, signal });
  }

  /** Kills everything that runs, with all that it started. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map(([id, pid]) => sweepProcesses(pid, id)));
  }

  async #execute(program: Program, { cwd, env, timeout, signal }: RunOptions): Promise<Outcome> {
    const id = randomUUID();
    const { baseEnvironment, variables, outputLimit } = this.options;
    const stdout = new ProgramOutput(this.pipes);
    const stderr = new ProgramOutput(this.pipes);
    const started = performance.now();
    const launched = launch(program, {
      cwd,
      env: { ...baseEnvironment, ...Object.fromEntries(variables.entries()), ...env, [executionMarker]: id },
      detached: true,
      stdio: [program.input === undefined ? "ignore" : "pipe", stdout.stdio, stderr.stdio],
    });
    if (launched instanceof Promise) {
      stdout.abandon();
      stderr.abandon();
      throw await startFailure(await launched, program.command, cwd);
    }

    const { child, pid } = launched;
    const killsBefore = this.#outOfMemory.recent;
    this.#running.set(id, pid);
    const watch = new ExecutionWatch(pid, id, timeout * 1000, signal);
    stdout.start(child.stdout, outputLimit, () => this.#files.create(`${id}.stdout`));
    stderr.start(child.stderr, outputLimit, () => this.#files.create(`${id}.stderr`));
    feed(child, program.input);
    preferToLose(pid);

    const [code, killer] = await exitOf(child);
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

/** A process, or the error that it could not be started with: `spawn` throws some and emits others. */
function launch(
  { command, args }: Program,
  options: SpawnOptions,
): { readonly child: ChildProcess; readonly pid: number } | Promise<NodeJS.ErrnoException> {
  try {
    const child = spawn(command, args, options);
    const { pid } = child;
    return pid === undefined ? new Promise((resolve) => child.once("error", resolve)) : { child, pid };
  } catch (error) {
    return Promise.resolve(error as NodeJS.ErrnoException);
  }
}

const exitOf = (child: ChildProcess) =>
  new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });

function feed({ stdin }: ChildProcess, input: string | undefined): void {
  // A program that ends without reading its input is not our failure.
  stdin?.on("error", () => undefined);
  stdin?.end(input);
}

/** When memory runs out, the kernel shall take a program and leave the agent. */
function preferToLose(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "800");
  } catch {
    // It has ended already.
  }
}

const withLine = (text: string, line: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;
