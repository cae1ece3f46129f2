import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { OutputPipes } from "./output-pipes.js";
import { executionMarker } from "./process-sweep.js";
import type { Program } from "./program.js";
import { ProgramOutput } from "./program-output.js";
import { startFailure } from "./start-failure.js";

/** The process of a program, in a process group of its own, with what it writes to. */
export interface StartedProgram {
  /** Marks the process and all that it starts. */
  readonly id: string;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly stdout: ProgramOutput;
  readonly stderr: ProgramOutput;
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<readonly [number | null, NodeJS.Signals | null]>;
}

/** Starts a program; rejects with the problem that says why it cannot be started. Its input is not sent yet. */
export async function startProgram(
  program: Program,
  cwd: string,
  env: Readonly<Record<string, string>>,
  pipes: OutputPipes,
): Promise<StartedProgram> {
  const id = randomUUID();
  const stdout = new ProgramOutput(pipes);
  const stderr = new ProgramOutput(pipes);
  const launched = launch(program, {
    cwd,
    env: { ...env, [executionMarker]: id },
    detached: true,
    stdio: [program.input === undefined ? "ignore" : "pipe", stdout.stdio, stderr.stdio],
  });
  if (launched instanceof Promise) {
    stdout.abandon();
    stderr.abandon();
    throw await startFailure(await launched, program.command, cwd);
  }
  const { child, pid } = launched;
  preferToLose(pid);
  const exit = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
  return { id, child, pid, stdout, stderr, exit };
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

/** When memory runs out, the kernel shall take a program and leave the agent. */
function preferToLose(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "800");
  } catch {
    // It has ended already.
  }
}
