import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, writeFileSync } from "node:fs";
import { pipeline, Readable, type Writable } from "node:stream";
import type { Program } from "@cloud-sandbox/server-kit/execution";
import { asProgram } from "../../machine/program-identity.js";
import type { OutputPipes } from "../output/output-pipes.js";
import { ProgramOutput } from "../output/program-output.js";
import { makeInputPipe } from "./input-pipe.js";
import { executionMarker } from "./process-sweep.js";
import { startFailure } from "./start-failure.js";

/** A started process in its own process group. */
export interface StartedProcess {
  /** The execution id that marks the process and its descendants. */
  readonly id: string;
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly exit: Promise<readonly [number | null, NodeJS.Signals | null]>;
}

/** A started program with its streams. */
export interface StartedProgram extends StartedProcess {
  /** The program's standard input. Null if that is empty. */
  readonly stdin: Writable | null;
  readonly stdout: ProgramOutput;
  readonly stderr: ProgramOutput;
}

/** Starts a program. Rejects with the reason if it cannot be started. Its input is not sent yet. */
export async function startProgram(
  program: Program,
  cwd: string,
  env: Readonly<Record<string, string>>,
  pipes: OutputPipes,
  id: string = randomUUID(),
): Promise<StartedProgram> {
  const stdout = new ProgramOutput(pipes);
  const stderr = new ProgramOutput(pipes);
  try {
    const started = await startWithInput(program, (stdin) =>
      startProcess(program, {
        cwd,
        env: { ...env, ...program.env },
        stdio: [stdin, stdout.stdio, stderr.stdio],
        id,
      }),
    );
    return { ...started, stdout, stderr };
  } catch (error) {
    stdout.abandon();
    stderr.abandon();
    throw error;
  }
}

/** Starts a process with `start`, and returns it with the stream that its input is to be written to. */
export async function startWithInput(
  { input }: Pick<Program, "input">,
  start: (stdin: number | "ignore" | "pipe") => Promise<StartedProcess>,
): Promise<StartedProcess & { readonly stdin: Writable | null }> {
  const pipe = input === undefined ? undefined : await makeInputPipe();
  try {
    const started = await start(pipe?.read ?? (input === undefined ? "ignore" : "pipe"));
    return { ...started, stdin: pipe?.write ?? started.child.stdin };
  } catch (error) {
    pipe?.write.destroy();
    throw error;
  } finally {
    if (pipe) closeSync(pipe.read);
  }
}

/** Writes a program's input. A program may exit without reading it; that is not an error of the agent's. */
export function feed(stdin: Writable | null, input: Program["input"]): void {
  stdin?.on("error", () => undefined);
  if (stdin && input instanceof Readable) pipeline(input, stdin, () => undefined);
  else stdin?.end(input);
}

interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
  readonly id?: string;
}

/** Starts a process marked with its execution id. Rejects with the reason if it cannot be started. */
export async function startProcess(
  program: Pick<Program, "command" | "args">,
  { cwd, env, stdio, id = randomUUID() }: ProcessOptions,
): Promise<StartedProcess> {
  const launched = launch(program, { cwd, env: { ...env, [executionMarker]: id }, detached: true, stdio });
  if (launched instanceof Promise) throw await startFailure(await launched, program.command, cwd, env.PATH);
  const { child, pid } = launched;
  makeFirstOutOfMemoryVictim(pid);
  const exit = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
  return { id, child, pid, exit };
}

/** Returns the process, or a promise of the error: `spawn` throws some errors and emits others. */
function launch(
  { command, args }: Pick<Program, "command" | "args">,
  options: SpawnOptions & { readonly cwd: string },
): { readonly child: ChildProcess; readonly pid: number } | Promise<NodeJS.ErrnoException> {
  try {
    const { file, args: words, identity } = asProgram(command, args, options);
    const child = spawn(file, words, { ...options, ...identity });
    const { pid } = child;
    return pid === undefined ? new Promise((resolve) => child.once("error", resolve)) : { child, pid };
  } catch (error) {
    return Promise.resolve(error as NodeJS.ErrnoException);
  }
}

/** Makes the kernel kill programs rather than the agent when memory runs out. */
function makeFirstOutOfMemoryVictim(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "800");
  } catch {
    // Ignore the error: the process has already ended.
  }
}
