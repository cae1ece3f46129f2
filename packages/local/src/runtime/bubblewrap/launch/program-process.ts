import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Duplex, Readable, Writable } from "node:stream";
import { unrefChild } from "../../host/unref-child.js";
import { type Init, readInit } from "../user-namespace.js";
import type { LaunchCommand } from "./launch-command.js";
import { closeWriteEnds, type ProgramPipe } from "./program-pipes.js";

/** The descriptors that a program's bubblewrap is started with, beside those of the program. */
export const programDescriptors = { report: 6, seccomp: 7, arguments: 8 } as const;

/** The process that becomes bubblewrap's monitor, however it was started. */
export interface ProgramProcess {
  /** What the program reads its request from, and where it reports. */
  readonly control: Duplex;
  /** Undefined if bubblewrap ended before it started a process 1. */
  readonly init: Promise<Init | undefined>;
  /** Its exit code; null if it was killed. */
  readonly exit: Promise<number | null>;
  readonly isRunning: boolean;
  /** Whether the program's pipes were opened in it: nobody opens them later. */
  readonly hasOpenedPipes: boolean;
  kill(): void;
}

/** How a program is started. */
export interface ProgramStart {
  readonly launch: LaunchCommand;
  /** What bubblewrap runs. */
  readonly command: readonly string[];
  /** bubblewrap's options, without the one for its report. */
  readonly options: readonly string[];
  readonly seccompFile: string | undefined;
  readonly stdout: ProgramPipe;
  readonly stderr: ProgramPipe;
  /** Whether this process goes on while the program runs. */
  readonly holdsProcess: boolean;
}

/** Starts a program as a child of this process. */
export function spawnProgram(start: ProgramStart): ProgramProcess {
  const { launch, command, stdout, stderr } = start;
  const seccomp = start.seccompFile === undefined ? undefined : openSync(start.seccompFile, "r");
  try {
    const [head, ...launching] = launch.command;
    const child = spawn(head, [...launching, ...command], {
      cwd: "/",
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", ...launch.environment },
      stdio: [
        ...(["ignore", "ignore", "ignore", "pipe", stdout.write, stderr.write] as const),
        ...(["pipe", seccomp ?? "ignore", "pipe"] as const),
      ],
    });
    if (!start.holdsProcess) unrefChild(child);
    return new ChildProgram(child, ["--info-fd", String(programDescriptors.report), ...start.options]);
  } finally {
    if (seccomp !== undefined) closeSync(seccomp);
    closeWriteEnds([stdout, stderr]);
  }
}

class ChildProgram implements ProgramProcess {
  readonly control: Duplex;
  readonly init: Promise<Init | undefined>;
  readonly exit: Promise<number | null>;
  readonly hasOpenedPipes = true;

  constructor(
    private readonly child: ChildProcess,
    options: readonly string[],
  ) {
    this.exit = new Promise((resolve) => {
      child.once("exit", (code) => resolve(code));
      child.once("error", () => resolve(null));
    });
    const pipes: readonly unknown[] = child.stdio;
    const [control, report, told] = [
      pipes[3],
      pipes[programDescriptors.report],
      pipes[programDescriptors.arguments],
    ];
    this.control = control instanceof Duplex ? control : new Duplex();
    this.init = report instanceof Readable ? readInit(report) : Promise.resolve(undefined);
    // Ignore write errors: a process that exits before it has read its options is noticed by its exit.
    if (told instanceof Writable) told.on("error", () => undefined).end(terminated(options));
  }

  get isRunning(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}

/** Options as bubblewrap reads them. */
const terminated = (options: readonly string[]): string => options.map((option) => `${option}\0`).join("");
