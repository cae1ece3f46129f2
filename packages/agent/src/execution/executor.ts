import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { EnvironmentVariables } from "../environment-variables.js";
import type { PrivateDirectory } from "../private-directory.js";
import { ExecutionWatch } from "./execution-watch.js";
import { KeptOutput } from "./kept-output.js";
import { OutOfMemoryCounter } from "./out-of-memory.js";
import { type Outcome, termination } from "./outcome.js";
import { OutputFiles } from "./output-files.js";
import { OutputPipes } from "./output-pipes.js";
import { executionMarker, sweepProcesses } from "./process-sweep.js";
import type { Program } from "./program.js";
import { SpareInterpreter } from "./spare-interpreter.js";
import { exhausted } from "./start-failure.js";
import { type StartedProgram, startProgram } from "./started-program.js";

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
  /**
   * Given when nobody waits for it: it leaves the spare interpreter to those for whom somebody does, and all of its
   * output goes to one of these files, so that less of it stays in memory.
   */
  readonly background?: OutputFiles;
}

/** A program that was started. */
export interface Execution {
  readonly id: string;
  readonly pid: number;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly outcome: Promise<Outcome>;
}

/** Milliseconds. */
const spareDelay = 3;
/** For what was killed to have ended, in milliseconds. */
const closeLimit = 1000;
/** Bytes of each output of a background execution that stay in memory. */
export const backgroundOutputLimit = 64 * 1024;

/** Starts programs, each in a process group of its own, and stays with them to their end. */
export class Executor {
  /** Programs run so far, and those of them that failed. */
  readonly counts = { total: 0, failed: 0 };
  readonly #files: OutputFiles;
  readonly #outOfMemory = new OutOfMemoryCounter();
  /** What runs, by its id. */
  readonly #running = new Map<string, Execution>();
  readonly #pipes: Promise<OutputPipes>;
  readonly #counted: Promise<unknown>;
  readonly #spare: SpareInterpreter | undefined;
  #active = 0;
  /** Those of the active ones that somebody waits for. */
  #awaited = 0;

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
    const { outcome } = await this.start(prepare, options);
    return outcome;
  }

  /** As `run`, but returns when the program has started. */
  async start(prepare: () => Program | Promise<Program>, options: RunOptions): Promise<Execution> {
    const { maxExecutions } = this.options;
    if (this.#active >= maxExecutions)
      throw exhausted(`${maxExecutions} programs run already, the most at a time. Wait until one has ended.`);
    const awaited = options.background ? 0 : 1;
    this.#active += 1;
    this.#awaited += awaited;
    this.counts.total += 1;
    let program: Program | undefined;
    const end = async (succeeded: boolean) => {
      this.#active -= 1;
      this.#awaited -= awaited;
      if (!succeeded) this.counts.failed += 1;
      // What the program keeps from being removed stays in the temporary files, where its owner can see it.
      await program?.cleanUp?.().catch(() => undefined);
      this.#prepareSpare();
    };
    try {
      program = await prepare();
      const execution = await this.#start(program, options);
      return { ...execution, outcome: this.#toItsEnd(execution, end) };
    } catch (error) {
      await end(false);
      throw error;
    }
  }

  async #toItsEnd({ outcome }: Execution, end: (succeeded: boolean) => Promise<void>): Promise<Outcome> {
    let succeeded = false;
    try {
      const ended = await outcome;
      succeeded = ended.exitCode === 0;
      return ended;
    } finally {
      await end(succeeded);
    }
  }

  /** Once nothing that is waited for runs for a moment: a start takes as much from what runs as a program does. */
  #prepareSpare(): void {
    setTimeout(() => {
      if (this.#awaited === 0) void this.#spare?.prepare();
    }, spareDelay).unref();
  }

  /** Runs a program that does nothing, so that the first real one finds the way trodden. It is not counted. */
  async warmUp(): Promise<void> {
    const signal = new AbortController().signal;
    const nothing = { command: "true", args: [], input: "" };
    await (await this.#start(nothing, { cwd: "/", env: {}, timeout: 10, signal })).outcome;
    await this.#spare?.prepare();
  }

  /** Kills everything that runs, with all that it started. */
  async close(): Promise<void> {
    this.#spare?.close();
    await this.#pipes;
    const running = [...this.#running.values()];
    await Promise.all(running.map(({ id, pid }) => sweepProcesses(pid, id)));
    // Output may still be on its way to the disk; of what the kernel does not let die, there will be no end.
    const ended = Promise.allSettled(running.map(({ outcome }) => outcome));
    await Promise.race([ended, sleep(closeLimit, undefined, { ref: false })]);
  }

  async #start(program: Program, options: RunOptions): Promise<Execution> {
    const { cwd, env, background } = options;
    const { baseEnvironment, variables } = this.options;
    const given = { ...Object.fromEntries(variables.entries()), ...env };
    const complete = { ...baseEnvironment, ...given };
    await this.#counted;
    const began = performance.now();
    const spare = background ? undefined : await this.#spare?.take(program, cwd, given);
    const started = spare ?? (await startProgram(program, cwd, complete, await this.#pipes));
    const { id, child, pid } = started;
    const input = spare
      ? program.inputWhenWaiting?.(cwd, { ...complete, [executionMarker]: id })
      : program.input;
    const stdout = this.#keptOutput(`${id}.stdout`, background);
    const stderr = this.#keptOutput(`${id}.stderr`, background);
    const outcome = this.#attend(started, options, began, stdout, stderr);
    const execution = { id, pid, stdout, stderr, outcome };
    this.#running.set(id, execution);
    feed(child, input);
    return execution;
  }

  #keptOutput(name: string, background: OutputFiles | undefined): KeptOutput {
    const { outputLimit } = this.options;
    if (!background) return new KeptOutput(outputLimit, () => this.#files.create(name));
    return new KeptOutput(Math.min(outputLimit, backgroundOutputLimit), () => background.create(name), true);
  }

  async #attend(
    { id, child, pid, stdout, stderr, exit }: StartedProgram,
    { timeout, signal }: RunOptions,
    began: number,
    keptStdout: KeptOutput,
    keptStderr: KeptOutput,
  ): Promise<Outcome> {
    const killsBefore = this.#outOfMemory.recent;
    const watch = new ExecutionWatch(pid, id, timeout * 1000, signal);
    stdout.start(child.stdout, keptStdout);
    stderr.start(child.stderr, keptStderr);

    const [code, killer] = await exit;
    const duration = Math.round((performance.now() - began) * 1000) / 1e6;
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
