import { randomUUID } from "node:crypto";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import {
  ControlChannel,
  codeOutcome,
  ExecutionReport,
  type Frame,
  InterruptWatch,
  type Program,
  type ReportedEnd,
  sourceBytes,
  strayReportMessage,
} from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { OutputFiles } from "../output/output-files.js";
import { ProgramOutput } from "../output/program-output.js";
import type { ExecutionResources } from "../programs/execution-resources.js";
import type { Execution } from "../programs/executor.js";
import { executionMarker, kill, sweepContext, sweepExecution } from "../programs/process-sweep.js";
import { exhausted, workdirProblem } from "../programs/start-failure.js";
import { feed, type StartedProcess, startProcess, startWithInput } from "../programs/started-program.js";

/** Milliseconds within which an interpreter must start the code it was sent. Otherwise it is killed. */
const startLimit = 30_000;
/** Milliseconds to wait, after an interpreter has ended, for frames that it had already sent. */
const drainMs = 100;

type Variables = Readonly<Record<string, string>>;

/** A request to run code in an interpreter. */
export interface InterpreterRequest {
  /** Id of the execution, if the caller has already announced one. Default: a new id. */
  readonly id?: string | undefined;
  readonly code: string;
  /** Working directory for this and all later executions. */
  readonly home?: string | undefined;
  /** Working directory for this execution only. */
  readonly cwd?: string | undefined;
  /** The sandbox's current environment variables. */
  readonly variables: Variables;
  /** Environment variables for this execution only. */
  readonly env: Variables;
  /** Time limit in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Whether the code is an IPython cell, which may contain magics. */
  readonly usesIpython: boolean;
  /** The name of the code's file. Default: a number with `suffix`. */
  readonly filename: string | undefined;
  readonly suffix: string;
  /** The path of the file, if the code is a program: the only code that the interpreter runs, which ends with it. */
  readonly program: ProgramFile | undefined;
  /** The files that receive the whole output, if the execution runs in the background. */
  readonly background?: OutputFiles | undefined;
}

/** The main file of a program. */
export interface ProgramFile {
  readonly path: string;
  /** Whether the interpreter writes the code to it, unless the file exists. */
  readonly isWritten: boolean;
}

/** Thrown when the interpreter ended before it started the code, which can then safely be run in another one. */
export class InterpreterGone extends Error {
  constructor() {
    super("The interpreter ended before it ran the code.");
    this.name = "InterpreterGone";
  }
}

/** The current execution, from the request until the driver reports its end. */
interface Run {
  started: () => void;
  refused: (error: Error) => void;
  ended: (end: ReportedEnd | undefined) => void;
  readonly report: ExecutionReport;
  /** The working directory that was requested, for error messages. */
  readonly directory: string;
  readonly isProgram: boolean;
}

/** An interpreter process that runs one piece of code after the other and keeps the variables in between. */
export class Interpreter {
  /**
   * Whether the interpreter has IPython. Resolves when the driver reports it, or with false when the process ends
   * before.
   */
  readonly hasIpython: Promise<boolean>;
  /** Number of executions that this interpreter has started. */
  executions = 0;
  isAlive = true;
  /** Whether a caller was told that this interpreter's variables are lost. */
  isLossReported = false;
  readonly #channel: ControlChannel;
  /** The environment variables that the interpreter has now. */
  #variables: Variables;
  #run: Run | undefined;
  #isGone = false;
  /** Whether code that the interpreter ran wrote to the control channel, on which only the driver may write. */
  #isGarbled = false;
  #greet: (hasIpython: boolean) => void = () => undefined;

  private constructor(
    private readonly process: StartedProcess,
    socket: Duplex,
    variables: Variables,
    private readonly resources: ExecutionResources,
    /** Transforms code before it is sent to the driver. */
    private readonly prepare: (code: string) => Promise<string>,
  ) {
    this.#variables = { ...variables, [executionMarker]: process.id };
    this.hasIpython = new Promise((resolve) => {
      this.#greet = resolve;
    });
    this.#channel = new ControlChannel(socket, (frame) => this.#take(frame));
    void Promise.race([process.exit, this.#channel.closed]).then(() => this.#gone());
  }

  static async start(
    program: Pick<Program, "command" | "args" | "input">,
    sources: readonly string[],
    variables: Variables,
    resources: ExecutionResources,
    prepare: (code: string) => Promise<string> = async (code) => code,
  ): Promise<Interpreter> {
    const process = await startWithInput(program, (stdin) =>
      startProcess(program, { cwd: "/", env: variables, stdio: [stdin, "ignore", "ignore", "pipe"] }),
    );
    feed(process.stdin, program.input);
    const socket = process.child.stdio[3];
    if (!(socket instanceof Duplex)) throw new Error("The interpreter has no control channel.");
    const interpreter = new Interpreter(process, socket, variables, resources, prepare);
    socket.write(sourceBytes(sources));
    return interpreter;
  }

  get id(): string {
    return this.process.id;
  }

  /**
   * Runs code. Resolves once it has started. Rejects with `InterpreterGone` only if the code certainly did not start.
   */
  async run(request: InterpreterRequest): Promise<Execution> {
    const pipes = await this.resources.pipes;
    await this.resources.counted;
    const code = await this.prepare(request.code);
    const stdout = new ProgramOutput(pipes, await pipes.takeWithPath());
    const stderr = new ProgramOutput(pipes, await pipes.takeWithPath());
    try {
      return await this.#runInto({ ...request, code }, stdout, stderr);
    } catch (error) {
      stdout.abandon();
      stderr.abandon();
      throw error;
    }
  }

  async #runInto(
    request: InterpreterRequest,
    stdout: ProgramOutput,
    stderr: ProgramOutput,
  ): Promise<Execution> {
    const { id = randomUUID() } = request;
    const { pid } = this.process;
    if (stdout.path === undefined || stderr.path === undefined) {
      const { obstacle } = await this.resources.pipes;
      throw exhausted(
        `No pipe for the output could be made: ${obstacle}. Remove the cause, then run the code again after some seconds.`,
      );
    }
    if (!this.isAlive) throw new InterpreterGone();
    const { resources } = this;
    const keptStdout = resources.keptOutput(`${id}.stdout`, request.background);
    const keptStderr = resources.keptOutput(`${id}.stderr`, request.background);
    const killsBefore = resources.outOfMemory.recent;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => void this.end(), startLimit);
      const report = new ExecutionReport();
      const end = new Promise<ReportedEnd | undefined>((ended) => {
        const started = () => {
          clearTimeout(limit);
          const began = performance.now();
          const execution = { id, interpreter: pid, contextId: this.id, began };
          const code = {
            interrupt: () => kill(pid, "SIGINT"),
            sweep: () => sweepExecution(execution),
            kill: () => void sweepContext(pid, this.id),
          };
          const watch = new InterruptWatch(code, request.timeout, request.signal);
          stdout.start(null, keptStdout);
          stderr.start(null, keptStderr);
          const outcome = this.#watchToEnd(end, {
            id,
            began,
            watch,
            stdout,
            stderr,
            report,
            killsBefore,
            isProgram: request.program !== undefined,
          });
          resolve({ id, pid, stdout: keptStdout, stderr: keptStderr, outcome });
        };
        const refused = (error: Error) => {
          clearTimeout(limit);
          reject(error);
        };
        const directory = request.cwd ?? request.home ?? "";
        this.#run = { started, refused, ended, report, directory, isProgram: request.program !== undefined };
      });
      this.#channel.send(this.#fields(request, id, stdout.path ?? "", stderr.path ?? ""), request.code);
    });
  }

  #fields(request: InterpreterRequest, id: string, stdout: string, stderr: string): string[] {
    const { variables, env, home, cwd, usesIpython, program, suffix } = request;
    const { filename = `execution-${this.executions + 1}${suffix}` } = request;
    const next = { ...variables, [executionMarker]: id };
    const before = this.#variables;
    this.#variables = next;
    const changed = Object.entries(next).filter(([name, value]) => before[name] !== value);
    return [
      `o${stdout}`,
      `e${stderr}`,
      `n${filename}`,
      ...(usesIpython ? ["icell"] : []),
      ...(program ? [`p${program.path}`] : []),
      ...(program?.isWritten ? ["w"] : []),
      ...(home === undefined ? [] : [`s${home}`]),
      ...(cwd === undefined ? [] : [`c${cwd}`]),
      ...Object.keys(before).flatMap((name) => (name in next ? [] : [`-${name}`])),
      ...changed.map(([name, value]) => `+${name}=${value}`),
      ...Object.entries(env).map(([name, value]) => `!${name}=${value}`),
    ];
  }

  /**
   * Handles a frame. A frame that the driver cannot have sent at this point was written by the executed code: nothing
   * on this channel can be trusted any more, so the interpreter is killed.
   */
  #take(frame: Frame | undefined): void {
    if (frame?.kind === "H") this.#greet(frame.payload.length > 0);
    else if (!frame || !this.#run || !this.#accept(this.#run, frame)) {
      this.#isGarbled = this.#run?.report.isStarted ?? false;
      this.#channel.ignore();
      void this.end();
    }
  }

  /** Handles a frame of the current execution. Returns whether the driver may send that frame at this point. */
  #accept(run: Run, frame: Frame): boolean {
    const reported = run.report.take(frame);
    switch (reported?.what) {
      case "started":
        this.executions += 1;
        run.started();
        break;
      case "refused":
        this.#run = undefined;
        void refusal(run.directory, reported.reason).then(run.refused);
        break;
      case "unconnected":
        this.#run = undefined;
        run.refused(exhausted("The agent's temporary files were removed just now. Run the code again."));
        break;
      case "ended":
        // A program goes on: its threads, its exit handlers.
        if (!run.isProgram) this.#run = undefined;
        run.ended(reported.end);
        break;
      default:
    }
    return reported !== undefined;
  }

  /** Called when the process has exited or the channel was closed. */
  async #gone(): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    this.isAlive = false;
    this.#greet(false);
    const run = this.#run;
    // The executed code may have closed the channel. Code that has started runs to its end; otherwise kill the
    // interpreter.
    if (!run?.report.isStarted) await this.end();
    await this.process.exit;
    // Read the frames that the interpreter sent just before it exited. Do not wait for the channel to close:
    // processes that the interpreter forked may keep the channel open.
    await Promise.race([this.#channel.closed, sleep(drainMs)]);
    this.#channel.close();
    if (!run || this.#run !== run) return;
    this.#run = undefined;
    if (run.report.isStarted) run.ended(undefined);
    else run.refused(new InterpreterGone());
  }

  /** Kills the interpreter and the processes it forked. */
  async end(): Promise<void> {
    this.isAlive = false;
    await sweepContext(this.process.pid, this.id);
    await this.process.exit;
  }

  async #watchToEnd(end: Promise<ReportedEnd | undefined>, run: AttendedRun): Promise<Outcome> {
    const { id, began, watch, stdout, stderr, report, killsBefore, isProgram } = run;
    const { resources } = this;
    const ended = await end;
    this.isLossReported = !ended;
    const [exitCode, killer] =
      ended && !isProgram ? ([ended.exitCode, null] as const) : await this.process.exit;
    const endedAt = performance.now();
    await watch.stop();
    const outcome = await codeOutcome({
      id,
      pid: this.process.pid,
      began,
      endedAt,
      exitCode,
      killer,
      intervention: watch.intervention,
      ranOutOfMemory: () => resources.ranOut(killsBefore),
      memoryMb: resources.memoryMb,
      output: () => Promise.all([stdout.finish(), stderr.finish()]),
      values: report.values,
      dropped: ended?.dropped ?? 0,
      notes: [...(this.#isGarbled ? [strayReportMessage] : []), ...(ended || isProgram ? [] : [lostMessage])],
    });
    return ended || isProgram ? outcome : { ...outcome, contextLost: true };
  }
}

/**
 * The error for a working directory that the interpreter could not change to. `reason` is the interpreter's, used
 * when the directory itself looks fine.
 */
const refusal = async (directory: string, reason: string): Promise<Error> =>
  (await workdirProblem(directory)) ??
  new Problem(400, "INVALID_REQUEST", `workdir ${directory} cannot be used: ${reason}.`);

interface AttendedRun {
  readonly id: string;
  readonly began: number;
  readonly watch: InterruptWatch;
  readonly stdout: ProgramOutput;
  readonly stderr: ProgramOutput;
  readonly report: ExecutionReport;
  readonly killsBefore: number;
  readonly isProgram: boolean;
}

const lostMessage = "The interpreter has ended: the variables of this context are gone.";
