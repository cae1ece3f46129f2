import { Socket } from "node:net";
import { constants } from "node:os";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import {
  CapturedOutput,
  ControlChannel,
  codeOutcome,
  ExecutionReport,
  ExecutionWatch,
  type Frame,
  InterruptWatch,
  type KeptOutput,
  type OneShotProgram,
  type ReportedEnd,
  strayReportMessage,
} from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { KernelWatch } from "../host/kernel-watch.js";
import type { MachineGroup } from "../host/machine-group.js";
import { isOutOfDescriptors } from "../host/open-files.js";
import { childrenOf, processTree, readProcess, signalIfThere } from "../host/process-tree.js";
import { ProgramNotStarted } from "../host-problem.js";
import type { ProgramSpec } from "../sandbox-runtime.js";
import type { OpenPorts } from "./egress/proxy-ports.js";
import { PacedOutput, type ProgramPipe } from "./launch/program-pipes.js";
import type { ProgramProcess } from "./launch/program-process.js";

/** A driver sends a frame for each of at most 64 displayed values, and few others. */
const mostFrames = 128;
/** Milliseconds within which a program must start. */
const startLimitMs = 30_000;
/** Milliseconds to keep reading after a program has ended, if a background process of it keeps a pipe open. */
const drainGraceMs = 100;
/** Milliseconds that the processes of a program may take to end once they were killed. */
const endLimitMs = 1000;
/** Milliseconds after which the answer is sent although processes that were killed have not ended. */
const stuckLimitMs = 2000;
const sweepLimitMs = 5000;
const lateMessage =
  "The program was ended because this machine is too busy: it did not say in time that its code had begun. Check what the code has done before you run it again.";
/**
 * While reading is paused, one chunk is read ahead and the others stay in the pipe. With a larger limit Node.js would read
 * hundreds of small chunks ahead from a program that writes line by line, each followed by a pause of its own.
 */
const highWaterMark = 1;

export interface ProgramRunParts {
  readonly spec: ProgramSpec;
  readonly program: OneShotProgram;
  /** Variables that it was not started with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly process: ProgramProcess;
  readonly stdout: ProgramPipe;
  readonly stderr: ProgramPipe;
  readonly group: MachineGroup;
  readonly kernel: KernelWatch;
  /** The egress proxy's ports for the program, which waits for them. Undefined if it has no network, or has ended. */
  readonly ports: Promise<OpenPorts | undefined>;
  /** Milliseconds within which it must start. Default: {@link startLimitMs}. */
  readonly startLimitMs?: number | undefined;
}

/**
 * One program from its start to its end. Its output and the frames of its driver are hostile, because its code may have
 * written them: their size is limited, and they affect nothing but its own result.
 */
export class ProgramRun {
  readonly #parts: ProgramRunParts;
  /** The exit code of the program's bubblewrap. May stay pending forever: see `#giveUp`. */
  readonly #exit: Promise<number | null>;
  readonly #init: Promise<number | undefined>;
  readonly #channel: ControlChannel;
  readonly #report = new ExecutionReport();
  readonly #stdout: Output;
  readonly #stderr: Output;
  #frames = 0;
  #isGarbled = false;
  /** What the code has done for which it was ended. */
  #overuse: string | undefined;
  #isOver = false;
  /** Whether it was ended because it did not say in time that its code had begun, which it had. */
  #isLate = false;
  #killed: Promise<void> | undefined;
  #ports: OpenPorts | undefined;
  /** The reason why the proxy's ports could not be opened. */
  #egressFailure: unknown;
  #interpreter: number | undefined;
  #giveUp: () => void = () => undefined;
  #started: () => void = () => undefined;
  #ended: (end: ReportedEnd | undefined) => void = () => undefined;
  readonly #start = new Promise<void>((resolve) => {
    this.#started = resolve;
  });
  readonly #end = new Promise<ReportedEnd | undefined>((resolve) => {
    this.#ended = resolve;
  });

  constructor(parts: ProgramRunParts) {
    const { process, stdout, stderr, group, kernel } = parts;
    this.#parts = parts;
    this.#stdout = new Output(stdout);
    this.#stderr = new Output(stderr);
    const givenUp = new Promise<number>((resolve) => {
      this.#giveUp = () => resolve(128 + constants.signals.SIGKILL);
    });
    this.#exit = Promise.race([process.exit, givenUp]);
    this.#init = process.init.then((told) => told?.pid);
    void this.#init.then((init) => {
      if (init === undefined || !this.#isRunning()) return;
      group.adopt(init);
      const unwatch = kernel.watch({ init, end: (message) => this.#endFor(message) });
      void process.exit.then(unwatch);
    });
    this.#channel = new ControlChannel(process.control, (frame) => this.#take(frame));
    void this.#begin();
  }

  /** Whether no process holds the pipes of the program any more, so that they can be reused. */
  get hasFreePipes(): boolean {
    const { process } = this.#parts;
    return process.hasOpenedPipes && !process.isRunning && this.#stdout.isReusable && this.#stderr.isReusable;
  }

  /** Waits for the program's end. Rejects with {@link ProgramNotStarted} only if none of the program's code has run. */
  async outcome(): Promise<Outcome> {
    try {
      await this.#waitForStart();
      return await this.#attend();
    } finally {
      await this.#kill();
    }
  }

  /**
   * Ends processes that did not end when they were killed, because somebody on the host has frozen or stopped them.
   * Rejects while such a process remains.
   */
  async endStuck(): Promise<void> {
    if (!this.#isRunning()) return;
    const { process, group } = this.#parts;
    if (group.canFreeze) await group.freeze(false);
    process.kill();
    throw new Error("processes that were killed do not end");
  }

  /** Lets the program begin when the egress proxy's ports are open for it. */
  async #begin(): Promise<void> {
    const { spec, program, environment, ports } = this.#parts;
    try {
      this.#ports = await ports;
    } catch (error) {
      // End the program before it begins, so that it can be run in a machine instead.
      this.#egressFailure = error;
      return this.#kill();
    }
    if (this.#isOver) this.#ports?.close();
    else
      this.#channel.send(program.request(spec.filename, environment), program.hasDriver ? spec.code : "\n");
  }

  async #waitForStart(): Promise<void> {
    const { spec, startLimitMs: limitMs = startLimitMs } = this.#parts;
    const { signal } = spec;
    let isGivenUp = signal.aborted;
    let giveUp = (): void => undefined;
    const givenUp = new Promise<void>((resolve) => {
      giveUp = () => {
        isGivenUp = true;
        resolve();
      };
    });
    signal.addEventListener("abort", giveUp);
    const limit = setTimeout(giveUp, limitMs);
    try {
      if (!isGivenUp) await Promise.race([this.#start, this.#exit, givenUp]);
      // The program has ended, but its report of the start may still be unread: wait for the report.
      if (!this.#report.isStarted && !isGivenUp)
        await Promise.race([this.#start, this.#channel.closed, givenUp]);
      // This process may be late, and not the program: what has arrived is read first.
      if (isGivenUp) await setImmediate();
      if (this.#report.isStarted) return;
      // The program may have begun just before the signal fired.
      if (signal.aborted) spec.onStart?.();
      signal.throwIfAborted();
      // The code may have begun while nobody read that. Once it is dead, what it wrote is read to the end.
      await this.#kill();
      if (this.#report.isStarted) {
        this.#isLate = isGivenUp;
        return;
      }
      if (this.#egressFailure !== undefined) throw this.#egressFailure;
      throw new ProgramNotStarted(
        isGivenUp ? `not within ${limitMs / 1000} s` : "its sandbox ended while it was made",
      );
    } finally {
      clearTimeout(limit);
      signal.removeEventListener("abort", giveUp);
    }
  }

  async #attend(): Promise<Outcome> {
    const { spec, program, group } = this.#parts;
    const began = performance.now();
    spec.onStart?.();
    spec.onOutput?.(this.#stdout.kept, this.#stderr.kept);
    const init = await this.#init;
    this.#interpreter = init === undefined ? undefined : unlessNoDescriptorIsLeft(() => childrenOf(init)[0]);
    const watch = program.hasDriver
      ? new InterruptWatch(this.#code(init), spec.timeoutSeconds * 1000, spec.signal)
      : new ExecutionWatch(this.#process(init), spec.timeoutSeconds * 1000, spec.signal);
    const reported = await Promise.race([this.#end, this.#exit.then(() => undefined)]);
    // After the driver's report the interpreter waits for threads, runs exit handlers and writes buffers.
    const exitCode = await this.#exit;
    const endedAt = performance.now();
    await watch.stop();
    this.#readRest();
    await within(drainGraceMs, Promise.all([this.#stdout.ended, this.#stderr.ended]));
    await this.#kill();
    const hasEndedItself = !program.hasDriver || exitCode === reported?.exitCode;
    const killer = hasEndedItself ? null : signalOf(exitCode);
    return codeOutcome({
      id: spec.id,
      pid: undefined,
      began,
      endedAt,
      exitCode,
      killer,
      intervention: watch.intervention,
      ranOutOfMemory: async () => this.#overuse !== undefined || (await group.outOfMemoryKills()) > 0,
      memoryMb: this.#overuse === undefined ? spec.limits.memoryMb : undefined,
      output: () => Promise.all([this.#stdout.finish(), this.#stderr.finish()]),
      values: this.#report.values,
      dropped: reported?.dropped ?? 0,
      notes: [
        ...(this.#isGarbled ? [strayReportMessage] : []),
        ...(this.#isLate && !hasEndedItself ? [lateMessage] : []),
        ...(this.#overuse === undefined ? [] : [`The program was ended. ${this.#overuse}`]),
      ],
    });
  }

  #take(frame: Frame | undefined): void {
    // Ignore greetings until the code runs: before that, only the driver writes to this channel.
    if (frame?.kind === "H" && !this.#report.isStarted) return;
    this.#frames += 1;
    const reported = frame && this.#frames <= mostFrames ? this.#report.take(frame) : undefined;
    if (reported?.what === "started") this.#started();
    else if (reported?.what === "ended") this.#ended(reported.end);
    else if (reported?.what !== "value") {
      // If the code has begun, the code wrote this frame: a driver that cannot start the code reports that earlier.
      this.#isGarbled = this.#report.isStarted;
      this.#channel.ignore();
      void this.#kill();
    }
  }

  #code(init: number | undefined) {
    return {
      interrupt: () => this.#signal(init, "SIGINT", (pid) => pid),
      sweep: () => this.#sweep(init),
      kill: () => void this.#kill(),
    };
  }

  #process(init: number | undefined) {
    return {
      terminate: () => this.#signal(init, "SIGTERM", (pid) => -pid),
      sweep: () => this.#kill(),
    };
  }

  /** Signals the program's first process, if it is still there. */
  #signal(init: number | undefined, signal: NodeJS.Signals, target: (pid: number) => number): void {
    const pid = this.#interpreter;
    if (pid === undefined || !this.#isRunning()) return;
    const process = unlessNoDescriptorIsLeft(() => readProcess(pid));
    if (process && process.parent === init) signalIfThere(target(pid), signal);
  }

  /** Kills the processes that the code has started. The interpreter stays, to report the interruption. */
  async #sweep(init: number | undefined): Promise<void> {
    const deadline = Date.now() + sweepLimitMs;
    while (init !== undefined && this.#isRunning() && Date.now() < deadline) {
      // Undefined if no descriptor is free: the next attempt may get one.
      const tree = await processTree(init).catch(() => undefined);
      const others = tree?.filter(
        ({ pid, state }) => pid !== init && pid !== this.#interpreter && !/[ZX]/.test(state),
      );
      if (others?.length === 0 || !this.#isRunning()) return;
      for (const { pid } of others ?? []) signalIfThere(pid, "SIGKILL");
      await sleep(5);
    }
  }

  /**
   * Kills every process of the program. Resolves when none is left and the pipes are read, or when some processes do
   * not end.
   */
  #kill(): Promise<void> {
    if (!this.#killed) {
      this.#killed = this.#killAll();
      // `outcome` reports a failure.
      this.#killed.catch(() => undefined);
    }
    return this.#killed;
  }

  #endFor(message: string): void {
    this.#overuse = message;
    this.#parts.spec.onTookTooMuch?.();
    void this.#kill();
  }

  async #killAll(): Promise<void> {
    const { process } = this.#parts;
    this.#isOver = true;
    if (this.#isRunning()) {
      const init = await within(endLimitMs, this.#init);
      // Killing process 1 kills all others. Its pid cannot belong to another process, because bubblewrap has not reaped
      // it yet.
      if (init !== undefined && this.#isRunning()) signalIfThere(init, "SIGKILL");
      else process.kill();
    }
    const timer = setTimeout(this.#giveUp, stuckLimitMs);
    await this.#exit;
    clearTimeout(timer);
    this.#readRest();
    this.#ports?.close();
    if (!this.#report.isStarted && !this.#isRunning()) await within(endLimitMs, this.#channel.closed);
    this.#channel.close();
    // Processes that do not end keep the pipes open: do not wait for those.
    if (!this.#isRunning()) await within(endLimitMs, Promise.all([this.#stdout.ended, this.#stderr.ended]));
    this.#stdout.close();
    this.#stderr.close();
  }

  /** Reads the rest of the pipes at full speed, even if the caller's reader is behind: the pipes are closed soon. */
  #readRest(): void {
    this.#stdout.readRest();
    this.#stderr.readRest();
  }

  #isRunning(): boolean {
    return this.#parts.process.isRunning;
  }
}

/** One output of a program. */
class Output {
  readonly ended: Promise<void>;
  readonly #stream: Socket;
  readonly #kept = new PacedOutput();
  readonly #captured: CapturedOutput;

  constructor({ read }: ProgramPipe) {
    const options = { fd: read, readable: true, writable: false, highWaterMark };
    this.#stream = new Socket(options);
    this.#captured = new CapturedOutput(this.#stream, this.#kept);
    this.ended = this.#captured.ended;
  }

  finish() {
    return this.#captured.finish();
  }

  /** The output for a reader. */
  get kept(): KeptOutput {
    return this.#kept;
  }

  readRest(): void {
    this.#kept.readRest();
  }

  /** Whether no process holds the pipe any more. */
  get isReusable(): boolean {
    return this.#stream.readableEnded;
  }

  close(): void {
    this.#stream.destroy();
  }
}

/** Waits for a promise, but at most some milliseconds; undefined if these are over first. */
async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** bubblewrap ends with 128 and the signal's number if a signal ended the program. */
function signalOf(exitCode: number | null): NodeJS.Signals | null {
  const names = Object.entries(constants.signals) as [NodeJS.Signals, number][];
  return names.find(([, number]) => number + 128 === exitCode)?.[0] ?? null;
}

/** Reads a process; undefined if this process cannot open a file. */
function unlessNoDescriptorIsLeft<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!isOutOfDescriptors(error)) throw error;
    return undefined;
  }
}
