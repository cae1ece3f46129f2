import type { Outcome, RichOutput, Termination } from "@cloud-sandbox/server-kit/handlers";
import { Problem } from "@cloud-sandbox/server-kit/portable";
import type { MemoryFiles } from "../memory/memory-files.js";
import { OutputLog } from "../memory/output-log.js";
import {
  type ChildProgram,
  type ProgramAnswer,
  type ProgramResult,
  performed,
  type TestingProgram,
} from "../memory/programs.js";
import type { TestingClock } from "../memory/testing-clock.js";
import { TextQueue } from "../memory/text-queue.js";

export interface ProgramRequest {
  /** Id of the execution. Default: a new one. */
  readonly id?: string;
  readonly text: string;
  readonly language: string | undefined;
  readonly args: readonly string[] | undefined;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Time limit in seconds. */
  readonly timeout: number | undefined;
  readonly terminal?: TestingProgram["terminal"];
  /** Message that the variables the program may rely on were lost; appended to its stderr. */
  readonly loss?: string | undefined;
  /** The context of the code, whose hint is told if the code asks for an unknown name. */
  readonly context?: { hint: string | undefined } | undefined;
  /** All of the standard input. Undefined if callers write it while the program runs. */
  readonly stdin?: string | undefined;
}

/** The part of a machine that a program needs. */
interface ProgramHost {
  readonly sandboxId: string;
  readonly clock: TestingClock;
  readonly files: MemoryFiles;
  readonly processes: ProcessTable;
  readonly counts: {
    begin(program: RunningProgram): void;
    end(program: RunningProgram, succeeded: boolean): void;
  };
  readonly gone: AbortSignal;
  /** Calls back once programs have run for some seconds: a pause is not counted. Returns a function that cancels that. */
  after(seconds: number, call: () => void): () => void;
  sleep(seconds: number, signal: AbortSignal): Promise<void>;
  connect(url: string): { allowed: boolean; reason: string };
}

/** A program in a sandbox, from its start. */
export class RunningProgram {
  readonly stdout = new OutputLog();
  readonly stderr = new OutputLog();
  readonly stdin = new TextQueue();
  readonly id: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly outcome: Promise<Outcome>;
  /** Whether the variables of the program's context were lost with it. */
  endedContext = false;
  readonly #machine: ProgramHost;
  readonly #displays: RichOutput[] = [];
  readonly #end = new AbortController();
  /** Ends the program's children. Aborts when the program is killed, not when it ends by itself. */
  readonly #children = new AbortController();
  readonly #listeners: ((name: string) => void)[] = [];
  #terminate: (end: Termination) => void = () => undefined;

  constructor(
    machine: ProgramHost,
    request: ProgramRequest,
    variables: Map<string, unknown>,
    find: (program: TestingProgram) => ProgramAnswer,
  ) {
    this.#machine = machine;
    if (request.stdin !== undefined) {
      this.stdin.push(request.stdin);
      this.stdin.end();
    }
    const program = this.#program(request, variables);
    const answer = find(program);
    this.id = request.id ?? globalThis.crypto.randomUUID();
    this.startedAt = machine.clock.now();
    this.pid = machine.processes.add(request.language === "python" ? "python3" : request.text);
    this.outcome = this.#run(program, answer, request);
    // Prevent an unhandled rejection if nobody waits for the program.
    this.outcome.catch(() => undefined);
  }

  /** Kills the program and everything it started. */
  kill(): void {
    this.#stop({ reason: "killed", exitCode: 137 });
  }

  /** Sends a signal: calls the program's listeners, or ends the program if it has none. */
  signal(name: string): void {
    if (name !== "SIGKILL" && this.#listeners.length > 0)
      for (const listener of this.#listeners) listener(name);
    else this.#stop({ reason: "signal", exitCode: 128 + (signalNumbers[name] ?? 15) });
  }

  #stop(end: Termination): void {
    this.#terminate(end);
    this.#end.abort();
    this.#children.abort();
  }

  async #run(
    program: TestingProgram,
    answer: ProgramAnswer,
    { timeout, loss, context }: ProgramRequest,
  ): Promise<Outcome> {
    const { clock, counts, processes } = this.#machine;
    const stopped = new Promise<Termination>((resolve) => {
      this.#terminate = resolve;
    });
    const { startedAt } = this;
    const limit =
      timeout === undefined
        ? undefined
        : this.#machine.after(timeout, () => this.#stop({ reason: "timeout", exitCode: 124 }));
    counts.begin(this);
    let succeeded = false;
    try {
      // Start asynchronously, so that the caller has the program before anything happens.
      const ended = Promise.resolve()
        .then(() => performed(answer, program))
        .catch(handlerFailed);
      ended.catch(() => undefined);
      const end = await Promise.race([ended, stopped]);
      const result: ProgramResult = "reason" in end ? {} : end;
      this.stdout.append(result.stdout ?? "");
      this.stderr.append(result.stderr ?? "");
      if (loss !== undefined) this.stderr.append(`${loss}\n`);
      if (context?.hint !== undefined && /^(Name|Reference)Error$/.test(result.error?.name ?? "")) {
        this.stderr.append(`${context.hint}\n`);
        context.hint = undefined;
      }
      this.endedContext = result.contextLost === true;
      const termination: Termination =
        "reason" in end ? end : { reason: "exit", exitCode: end.exitCode ?? (end.error ? 1 : 0) };
      succeeded = termination.exitCode === 0;
      return {
        id: this.id,
        ...termination,
        pid: this.pid,
        // Never report 0 seconds: a real program takes some time.
        duration: Math.max((clock.now().getTime() - startedAt.getTime()) / 1000, 0.000_001),
        stdout: whole(this.stdout),
        stderr: whole(this.stderr),
        ...(result.value !== undefined && { result: result.value }),
        ...(result.error !== undefined && { exception: result.error }),
        ...(this.#displays.length > 0 && { displays: this.#displays }),
        ...((this.endedContext || loss !== undefined) && { contextLost: true }),
      };
    } finally {
      limit?.();
      this.stdout.end();
      this.stderr.end();
      this.#end.abort();
      processes.remove(this.pid);
      counts.end(this, succeeded);
    }
  }

  #program(request: ProgramRequest, variables: Map<string, unknown>): TestingProgram {
    const machine = this.#machine;
    const { signal } = this.#end;
    return {
      sandboxId: machine.sandboxId,
      text: request.text,
      language: request.language,
      args: request.args,
      env: request.env,
      workdir: request.workdir,
      terminal: request.terminal,
      files: machine.files,
      variables,
      stdin: this.stdin,
      signal,
      stdout: (output) => this.stdout.append(output),
      stderr: (output) => this.stderr.append(output),
      display: (data) => this.#displays.push(...Object.entries(data).map(richOutput)),
      sleep: async (seconds) => {
        await machine.sleep(seconds, signal);
      },
      until: async (condition) => {
        while (!condition()) await machine.sleep(0.005, signal);
      },
      spawn: (command, run) => this.#spawn(command, run),
      processes: () => machine.processes.list().map(({ command }) => command),
      onSignal: (listener) => this.#listeners.push(listener),
      connect: (url) => machine.connect(url),
    };
  }

  #spawn(command: string, run: ((child: ChildProgram) => Promise<void>) | undefined): void {
    const machine = this.#machine;
    const { processes, gone } = machine;
    const pid = processes.add(command);
    const remove = (): void => processes.remove(pid);
    const ends = AbortSignal.any([gone, this.#children.signal, ...(run ? [] : [this.#end.signal])]);
    ends.addEventListener("abort", remove, { once: true });
    const child = { signal: ends, sleep: (seconds: number) => machine.sleep(seconds, ends) };
    run?.(child)
      .catch(() => undefined)
      .finally(remove);
  }
}

/** Reports an error that the test's own handler threw, such as a failed assertion, so that the test's output shows it. */
function handlerFailed(cause: unknown): never {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  throw new Problem(500, "INTERNAL_ERROR", `The test's handler for this program threw an error. ${text}`, {
    cause,
  });
}

const whole = (log: OutputLog) => ({ text: log.text, bytes: log.bytes, truncated: false });

const richOutput = ([type, data]: [string, unknown]): RichOutput => ({
  type,
  data: typeof data === "string" || isStructure(data) ? data : String(data),
});

const isStructure = (data: unknown): data is Record<string, unknown> =>
  typeof data === "object" && data !== null;

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGTERM: 15,
};

/** The processes of a sandbox, by process id. */
export class ProcessTable {
  readonly #commands = new Map<number, string>([[1, "cloud-sandbox-agent"]]);
  #last = 1;

  add(command: string): number {
    this.#last += 1;
    this.#commands.set(this.#last, command);
    return this.#last;
  }

  remove(pid: number): void {
    this.#commands.delete(pid);
  }

  list(): { readonly pid: number; readonly command: string }[] {
    return [...this.#commands].map(([pid, command]) => ({ pid, command }));
  }
}
