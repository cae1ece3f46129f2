import {
  ExecutionCache,
  mostKeptOutcomes,
  type Outcome,
  outcomeLifetime,
  RequestMetrics,
  VariableValues,
} from "@cloud-sandbox/server-kit/handlers";
import { Problem } from "@cloud-sandbox/server-kit/portable";
import type { EgressLog } from "../memory/egress-log.js";
import type { MemoryFiles } from "../memory/memory-files.js";
import { answerTo, type Programs } from "../memory/programs.js";
import type { TestingClock } from "../memory/testing-clock.js";
import { BackgroundExecutions } from "./background-executions.js";
import { Contexts } from "./contexts.js";
import { ProcessTable, type ProgramRequest, RunningProgram } from "./running-program.js";

interface MachineOptions {
  readonly sandboxId: string;
  readonly template: string;
  readonly clock: TestingClock;
  readonly files: MemoryFiles;
  readonly egress: EgressLog;
  readonly programs: Programs;
  readonly environment: Readonly<Record<string, string>>;
  /** The directory in which programs start. */
  readonly workdir: string;
  /** Called with each program that starts. */
  readonly onStart?: (program: RunningProgram, request: ProgramRequest) => void;
}

/** The inside of a running sandbox, which its agent reports on. Starting a stopped sandbox creates a new machine. */
export class Machine {
  readonly sandboxId: string;
  readonly template: string;
  readonly clock: TestingClock;
  readonly files: MemoryFiles;
  readonly workdir: string;
  readonly variables = new VariableValues();
  readonly contexts = new Contexts();
  readonly processes = new ProcessTable();
  readonly executions: BackgroundExecutions;
  readonly cache: ExecutionCache;
  readonly requests = new RequestMetrics();
  readonly counts = new ExecutionCounts();
  readonly startedAt: Date;
  readonly #programs: Programs;
  readonly #egress: EgressLog;
  readonly #onStart: MachineOptions["onStart"];
  readonly #gone = new AbortController();
  readonly #listeners = new Set<() => void>();
  #pausedAt: number | undefined;
  /** Milliseconds of the pauses that are over. */
  #paused = 0;

  constructor(options: MachineOptions) {
    this.sandboxId = options.sandboxId;
    this.template = options.template;
    this.clock = options.clock;
    this.files = options.files;
    this.workdir = options.workdir;
    this.#programs = options.programs;
    this.#egress = options.egress;
    this.#onStart = options.onStart;
    this.startedAt = options.clock.now();
    this.executions = new BackgroundExecutions(options.clock);
    this.cache = executionCache(() => options.clock.now());
    this.variables.replace(options.environment);
  }

  /** Aborts when the sandbox is stopped or gone, with the problem that says so. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Calls `listener` when the sandbox is stopped or gone; the returned function cancels that. Not a listener on the
   * signal, because Node.js warns of more than ten of those.
   */
  onGone(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Seconds since the machine started. */
  get uptime(): number {
    return (this.clock.now().getTime() - this.startedAt.getTime()) / 1000;
  }

  /** Starts a program. Throws a problem if the test does not define what the program does. */
  start(request: ProgramRequest, variables = new Map<string, unknown>()): RunningProgram {
    const env = { ...Object.fromEntries(this.variables.entries()), ...request.env };
    const running = new RunningProgram(this, { ...request, env }, variables, (program) => {
      const answer = answerTo(this.#programs, program);
      if (answer !== undefined) return answer;
      // No code does nothing: so a context is begun.
      if (request.text === "") return {};
      throw unknownProgram(request);
    });
    this.#onStart?.(running, request);
    return running;
  }

  pause(): void {
    this.#pausedAt ??= this.#now;
  }

  resume(): void {
    if (this.#pausedAt !== undefined) this.#paused += this.#now - this.#pausedAt;
    this.#pausedAt = undefined;
  }

  /** Calls back once programs have run for some seconds: a pause is not counted. Returns a function that cancels that. */
  after(seconds: number, call: () => void): () => void {
    const until = this.#runTime + seconds * 1000;
    let cancel = (): void => undefined;
    const wait = (): void => {
      const left = until - this.#runTime;
      if (left <= 0 && this.#pausedAt === undefined) call();
      else cancel = this.clock.at(new Date(this.#now + Math.max(left, 5)), wait);
    };
    cancel = this.clock.at(new Date(this.#now + seconds * 1000), wait);
    return () => cancel();
  }

  get #now(): number {
    return this.clock.now().getTime();
  }

  /** Milliseconds that the machine has run. */
  get #runTime(): number {
    return (this.#pausedAt ?? this.#now) - this.#paused;
  }

  /** Ends all programs. Waiting callers receive the problem. */
  end(why: Problem): void {
    for (const program of this.counts.running) program.kill();
    this.#gone.abort(why);
    for (const listener of this.#listeners) listener();
  }

  async sleep(seconds: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const cancel = this.after(seconds, resolve);
      const abort = (): void => {
        cancel();
        reject(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
    });
  }

  connect(url: string): { allowed: boolean; reason: string } {
    return this.#egress.connect(url);
  }
}

/** The running programs, and counters of all programs. */
class ExecutionCounts {
  readonly counts = { total: 0, failed: 0 };
  readonly running = new Set<RunningProgram>();

  get active(): number {
    return this.running.size;
  }

  begin(program: RunningProgram): void {
    this.counts.total += 1;
    this.running.add(program);
  }

  end(program: RunningProgram, succeeded: boolean): void {
    if (!succeeded) this.counts.failed += 1;
    this.running.delete(program);
  }
}

/** Thrown for a command without a shell whose behaviour the test does not define. */
export class CommandNotFound extends Problem {
  constructor(readonly command: string) {
    super(400, "INVALID_REQUEST", `${command}: command not found.`, {
      details: { command },
      hint: howToDefine,
    });
  }
}

const howToDefine =
  "The testing service runs no code: define what this program does with the service's programs option.";

function unknownProgram({ text, language, args }: ProgramRequest): Problem {
  if (args) return new CommandNotFound(text.split(" ", 1).join());
  const what = language ?? "command";
  const shown = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  return new Problem(400, "EXECUTION_FAILED", `The test does not define what the ${what} ${shown} does.`, {
    hint: howToDefine,
  });
}

/** The execution cache of one machine. Entries expire by the testing service's clock. */
export function executionCache(now: () => Date): ExecutionCache {
  const entries = new Map<string, { readonly outcome: Outcome; readonly until: number }>();
  const removeExpired = (): void => {
    for (const [key, { until }] of entries) if (until <= now().getTime()) entries.delete(key);
  };
  const kept = {
    get(key: string) {
      removeExpired();
      return entries.get(key)?.outcome;
    },
    set(key: string, outcome: Outcome) {
      entries.set(key, { outcome, until: now().getTime() + outcomeLifetime * 1000 });
      const [oldest] = entries.keys();
      if (entries.size > mostKeptOutcomes && oldest !== undefined) entries.delete(oldest);
    },
    clear: () => entries.clear(),
    get size() {
      removeExpired();
      return entries.size;
    },
  };
  return new ExecutionCache(kept, (text) => text);
}
