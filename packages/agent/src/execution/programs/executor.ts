import { setTimeout as sleep } from "node:timers/promises";
import {
  ExecutionWatch,
  type KeptOutput,
  type Program,
  programOutcome,
} from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { EnvironmentVariables } from "../../environment/environment-variables.js";
import type { OutputFiles } from "../output/output-files.js";
import type { ExecutionResources } from "./execution-resources.js";
import type { ExecutionSlots } from "./execution-slots.js";
import { killGroup, sweepProcesses } from "./process-sweep.js";
import { withFiles } from "./start-failure.js";
import { feed, type StartedProgram, startProgram } from "./started-program.js";

export interface ExecutorOptions {
  readonly resources: ExecutionResources;
  readonly slots: ExecutionSlots;
  /** The environment that every program starts with. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
}

export interface RunOptions {
  /** Id of the execution, if the caller has already announced one. Default: a new id. */
  readonly id?: string | undefined;
  readonly cwd: string;
  /** Variables for this program; they override the sandbox's. */
  readonly env: Readonly<Record<string, string>>;
  /** Time limit in seconds. */
  readonly timeout: number;
  /** Ends the program when it aborts. */
  readonly signal: AbortSignal;
  /**
   * The files that receive the whole output, if the program runs in the background. Less of the output is then kept in
   * memory.
   */
  readonly background?: OutputFiles | undefined;
}

/** A started program. */
export interface Execution {
  readonly id: string;
  readonly pid: number;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly outcome: Promise<Outcome>;
}

/** Milliseconds that `close` waits for killed programs to end. */
const closeLimit = 1000;

/** Starts each program in its own process group and watches it until it ends. */
export class Executor {
  /** Running executions by id. */
  readonly #running = new Map<string, Execution>();

  constructor(private readonly options: ExecutorOptions) {}

  /**
   * Runs a program until it ends, reaches its time limit or is aborted. A program that exits with an error is a
   * result, not a rejection.
   */
  async run(prepare: () => Program | Promise<Program>, options: RunOptions): Promise<Outcome> {
    const { outcome } = await this.start(prepare, options);
    return outcome;
  }

  /** Starts a program and resolves once it runs. Otherwise like `run`. */
  async start(prepare: () => Program | Promise<Program>, options: RunOptions): Promise<Execution> {
    const { slots } = this.options;
    slots.check();
    const release = slots.take(options.background !== undefined);
    let program: Program | undefined;
    const end = async (succeeded: boolean) => {
      // Files that cannot be deleted stay in the temporary directory, where the sandbox's owner can see them.
      await program?.cleanUp?.().catch(() => undefined);
      release(succeeded);
    };
    try {
      program = await withFiles(prepare);
      const execution = await this.#start(program, options);
      return { ...execution, outcome: this.#awaitOutcome(execution, end) };
    } catch (error) {
      await end(false);
      throw error;
    }
  }

  async #awaitOutcome({ outcome }: Execution, end: (succeeded: boolean) => Promise<void>): Promise<Outcome> {
    let succeeded = false;
    try {
      const ended = await outcome;
      succeeded = ended.exitCode === 0;
      return ended;
    } finally {
      await end(succeeded);
    }
  }

  /**
   * Runs the program `true` once, so that the code that starts programs is loaded before the first real one. Not
   * counted as an execution.
   */
  async warmUp(): Promise<void> {
    const signal = new AbortController().signal;
    const nothing = { command: "true", args: [] };
    await (await this.#start(nothing, { cwd: "/", env: {}, timeout: 10, signal })).outcome;
  }

  /** Kills all running programs and their descendants. */
  async close(): Promise<void> {
    await this.options.resources.pipes;
    const running = [...this.#running.values()];
    await Promise.all(running.map(({ id, pid }) => sweepProcesses(pid, id)));
    // Wait for the outcomes, because output may still be written to disk. The wait is limited: a process that the
    // kernel cannot kill never ends.
    const ended = Promise.allSettled(running.map(({ outcome }) => outcome));
    await Promise.race([ended, sleep(closeLimit, undefined, { ref: false })]);
  }

  async #start(program: Program, options: RunOptions): Promise<Execution> {
    const { cwd, env, background } = options;
    const { baseEnvironment, variables, resources } = this.options;
    const complete = { ...baseEnvironment, ...Object.fromEntries(variables.entries()), ...env };
    await resources.counted;
    const began = performance.now();
    const started = await startProgram(program, cwd, complete, await resources.pipes, options.id);
    const { id, pid } = started;
    const stdout = resources.keptOutput(`${id}.stdout`, background);
    const stderr = resources.keptOutput(`${id}.stderr`, background);
    const outcome = this.#watchToEnd(started, options, began, stdout, stderr);
    const execution = { id, pid, stdout, stderr, outcome };
    this.#running.set(id, execution);
    feed(started.stdin, program.input);
    return execution;
  }

  async #watchToEnd(
    { id, child, pid, stdout, stderr, exit }: StartedProgram,
    { timeout, signal }: RunOptions,
    began: number,
    keptStdout: KeptOutput,
    keptStderr: KeptOutput,
  ): Promise<Outcome> {
    const { resources } = this.options;
    const killsBefore = resources.outOfMemory.recent;
    const program = {
      terminate: () => killGroup(pid, "SIGTERM"),
      sweep: () => sweepProcesses(pid, id),
    };
    const watch = new ExecutionWatch(program, timeout * 1000, signal);
    stdout.start(child.stdout, keptStdout);
    stderr.start(child.stderr, keptStderr);

    const [code, killer] = await exit;
    const endedAt = performance.now();
    await watch.stop();
    this.#running.delete(id);
    return programOutcome({
      id,
      pid,
      began,
      endedAt,
      killer,
      exitCode: code,
      intervention: watch.intervention,
      ranOutOfMemory: () => resources.ranOut(killsBefore),
      memoryMb: resources.memoryMb,
      output: () => Promise.all([stdout.finish(), stderr.finish()]),
    });
  }
}
