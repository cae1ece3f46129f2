import type { ChildProcess } from "node:child_process";
import { pipeline, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { EnvironmentVariables } from "../../environment/environment-variables.js";
import { temporaryFileObstacle } from "../../machine/temporary-files.js";
import type { KeptOutput } from "../output/kept-output.js";
import type { OutputFiles } from "../output/output-files.js";
import type { ExecutionResources } from "./execution-resources.js";
import type { ExecutionSlots } from "./execution-slots.js";
import { ExecutionWatch } from "./execution-watch.js";
import { termination, withLine } from "./outcome.js";
import { sweepProcesses } from "./process-sweep.js";
import type { Program } from "./program.js";
import { exhausted } from "./start-failure.js";
import { type StartedProgram, startProgram } from "./started-program.js";

export interface ExecutorOptions {
  readonly resources: ExecutionResources;
  readonly slots: ExecutionSlots;
  /** What every program's environment starts from. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
}

export interface RunOptions {
  /** The execution's, where whoever starts it has told it already; else a new one. */
  readonly id?: string | undefined;
  readonly cwd: string;
  /** Wins over the sandbox's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout: number;
  /** Ends the program. */
  readonly signal: AbortSignal;
  /**
   * Given when nobody waits for it: all of its output goes to one of these files, so that less of it stays in memory.
   */
  readonly background?: OutputFiles | undefined;
}

/** A program that was started. */
export interface Execution {
  readonly id: string;
  readonly pid: number;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly outcome: Promise<Outcome>;
}

/** For what was killed to have ended, in milliseconds. */
const closeLimit = 1000;

/** Starts programs, each in a process group of its own, and stays with them to their end. */
export class Executor {
  /** What runs, by its id. */
  readonly #running = new Map<string, Execution>();

  constructor(private readonly options: ExecutorOptions) {}

  /** Runs a program to its end, which its time limit or an abort may bring. A program that fails is a result. */
  async run(prepare: () => Program | Promise<Program>, options: RunOptions): Promise<Outcome> {
    const { outcome } = await this.start(prepare, options);
    return outcome;
  }

  /** As `run`, but returns when the program has started. */
  async start(prepare: () => Program | Promise<Program>, options: RunOptions): Promise<Execution> {
    const { slots } = this.options;
    slots.check();
    const release = slots.take(options.background !== undefined);
    let program: Program | undefined;
    const end = async (succeeded: boolean) => {
      // What the program keeps from being removed stays in the temporary files, where its owner can see it.
      await program?.cleanUp?.().catch(() => undefined);
      release(succeeded);
    };
    try {
      program = await prepared(prepare);
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

  /** Runs a program that does nothing, so that the first real one finds the way trodden. It is not counted. */
  async warmUp(): Promise<void> {
    const signal = new AbortController().signal;
    const nothing = { command: "true", args: [], input: "" };
    await (await this.#start(nothing, { cwd: "/", env: {}, timeout: 10, signal })).outcome;
  }

  /** Kills everything that runs, with all that it started. */
  async close(): Promise<void> {
    await this.options.resources.pipes;
    const running = [...this.#running.values()];
    await Promise.all(running.map(({ id, pid }) => sweepProcesses(pid, id)));
    // Output may still be on its way to the disk; of what the kernel does not let die, there will be no end.
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
    const { id, child, pid } = started;
    const stdout = resources.keptOutput(`${id}.stdout`, background);
    const stderr = resources.keptOutput(`${id}.stderr`, background);
    const outcome = this.#attend(started, options, began, stdout, stderr);
    const execution = { id, pid, stdout, stderr, outcome };
    this.#running.set(id, execution);
    feed(child, program.input);
    return execution;
  }

  async #attend(
    { id, child, pid, stdout, stderr, exit }: StartedProgram,
    { timeout, signal }: RunOptions,
    began: number,
    keptStdout: KeptOutput,
    keptStderr: KeptOutput,
  ): Promise<Outcome> {
    const { resources } = this.options;
    const killsBefore = resources.outOfMemory.recent;
    const watch = new ExecutionWatch(pid, id, timeout * 1000, signal);
    stdout.start(child.stdout, keptStdout);
    stderr.start(child.stderr, keptStderr);

    const [code, killer] = await exit;
    const duration = Math.round((performance.now() - began) * 1000) / 1e6;
    await watch.stop();
    this.#running.delete(id);
    const wasKilled = killer === "SIGKILL" || code === 137;
    const outOfMemory = wasKilled && (await resources.ranOut(killsBefore));
    const [out, err] = await Promise.all([stdout.finish(), stderr.finish()]);
    const end = termination(code, killer, watch.intervention, outOfMemory);
    const text = end.reason === "out_of_memory" ? withLine(err.text, resources.memoryMessage) : err.text;
    return { id, ...end, pid, duration, stdout: out, stderr: { ...err, text } };
  }
}

function feed({ stdin }: ChildProcess, input: Program["input"]): void {
  // A program that ends without reading its input is not our failure.
  stdin?.on("error", () => undefined);
  if (stdin && input instanceof Readable) pipeline(input, stdin, () => undefined);
  else stdin?.end(input);
}

async function prepared(prepare: () => Program | Promise<Program>): Promise<Program> {
  try {
    return await prepare();
  } catch (error) {
    const obstacle = temporaryFileObstacle(error);
    throw obstacle === undefined ? error : exhausted(`The code could not be put into a file: ${obstacle}.`);
  }
}
