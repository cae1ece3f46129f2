import type { MemoryFiles } from "./memory-files.js";

/** What a sandbox of the testing service is asked to run, and what a program can do there. */
export interface TestingProgram {
  readonly sandboxId: string;
  /** The code; of a command, its line, or the program and its arguments with a space between them. */
  readonly text: string;
  /** Of code. Undefined of commands and terminals. */
  readonly language: string | undefined;
  /** What comes behind the program's name, of a command that no shell reads. */
  readonly args: readonly string[] | undefined;
  /** The sandbox's variables and the call's, with their values. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly workdir: string;
  /** The sandbox's files. */
  readonly files: MemoryFiles;
  /** What code of Python and JavaScript keeps from one execution of its context to the next; new for all others. */
  readonly variables: Map<string, unknown>;
  /** What is written to it while it runs. */
  readonly stdin: AsyncIterable<string>;
  /** The terminal it runs at, as large as that is now. */
  readonly terminal: { readonly cols: number; readonly rows: number } | undefined;
  /** Aborts when it is killed, its time is over, or its sandbox is gone. What it does after that has no effect. */
  readonly signal: AbortSignal;
  /** Writes output, which streams pass on at once. */
  stdout(text: string): void;
  /** Writes to stderr, as `stdout` does to the other. */
  stderr(text: string): void;
  /** Shows a value, by its MIME types, as `display` does in Python. */
  display(data: Readonly<Record<string, unknown>>): void;
  /** Waits, by the service's clock; while the sandbox is paused, longer. Rejects when `signal` aborts. */
  sleep(seconds: number): Promise<void>;
  /** Waits until it is true. Rejects when `signal` aborts. */
  until(condition: () => boolean): Promise<void>;
  /**
   * Adds a process with that command line. It ends with the program; one that has a `run` ends with what that does, and goes
   * on when the program has ended by itself.
   */
  spawn(command: string, run?: (child: ChildProgram) => Promise<void>): void;
  /** The command lines of what runs in the sandbox now, this program included. */
  processes(): readonly string[];
  /** Hears of signals such as `SIGINT`, which end a program that does not. */
  onSignal(listener: (name: string) => void): void;
  /** Asks to be connected with another machine: whether the sandbox may, as its egress log tells then. */
  connect(url: string): { readonly allowed: boolean; readonly reason: string };
}

/** A process that a program started. Its `signal` aborts, and its waiting ends, when it does. */
export type ChildProgram = Pick<TestingProgram, "signal" | "sleep">;

/** How a program ends. What it wrote before comes first. */
export interface ProgramResult {
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  /** Default 0. */
  readonly exitCode?: number | undefined;
  /** The last expression's value as text. */
  readonly value?: string | undefined;
  /** Whether the interpreter ended too, and with it the variables of its context. */
  readonly contextLost?: boolean | undefined;
}

/** What a program does: its output, how it ends, or a function that acts and may tell either. */
export type ProgramAnswer =
  | string
  | ProgramResult
  | ((program: TestingProgram) => string | ProgramResult | Promise<string | ProgramResult>)
  | ((program: TestingProgram) => void);

/** What programs do: by their text, or a function that gives `undefined` for those it does not know. */
export type Programs =
  | Readonly<Record<string, ProgramAnswer>>
  | ((program: TestingProgram) => ProgramAnswer | undefined);

/**
 * What that program does; undefined where nobody says.
 * @internal
 */
export function answerTo(programs: Programs, program: TestingProgram): ProgramAnswer | undefined {
  if (typeof programs === "function") return programs(program);
  return Object.hasOwn(programs, program.text) ? programs[program.text] : undefined;
}

/** @internal */
export async function performed(answer: ProgramAnswer, program: TestingProgram): Promise<ProgramResult> {
  const told = typeof answer === "function" ? await answer(program) : answer;
  return typeof told === "string" ? { stdout: told } : (told ?? {});
}
