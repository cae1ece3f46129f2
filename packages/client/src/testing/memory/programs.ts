import type { ExecutionError } from "../../execution/results/execution-result.js";
import type { MemoryFiles } from "./memory-files.js";

/** A program that a sandbox of the testing service is asked to run, and what the test's code can do as that program. */
export interface TestingProgram {
  readonly sandboxId: string;
  /**
   * The text of the program, by which it is recognised: its code or command line. For a command with arguments, the
   * command and its arguments joined by spaces.
   */
  readonly text: string;
  /** Language of the code; undefined for commands and terminals. */
  readonly language: string | undefined;
  /** Arguments of a command that is run without a shell; undefined otherwise. */
  readonly args: readonly string[] | undefined;
  /** Environment variables of the sandbox and of the call. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the working directory. */
  readonly workdir: string;
  /** The sandbox's files. */
  readonly files: MemoryFiles;
  /** Variables that Python and JavaScript code keeps between executions of its context; empty for all other programs. */
  readonly variables: Map<string, unknown>;
  /** What callers write to the program's standard input while it runs. */
  readonly stdin: AsyncIterable<string>;
  /** Current size of the program's terminal; undefined without a terminal. */
  readonly terminal: { readonly cols: number; readonly rows: number } | undefined;
  /**
   * Aborts when the program is killed, its time limit passes, or its sandbox is gone. What the program does after that
   * has no effect.
   */
  readonly signal: AbortSignal;
  /** Writes text or bytes to stdout; streams pass them on at once. */
  stdout(output: string | Uint8Array): void;
  /** Writes text or bytes to stderr; streams pass them on at once. */
  stderr(output: string | Uint8Array): void;
  /** Displays a value, output by MIME type, as `display` does in Python. */
  display(data: Readonly<Record<string, unknown>>): void;
  /** Waits by the service's clock; longer if the sandbox is paused meanwhile. Rejects when `signal` aborts. */
  sleep(seconds: number): Promise<void>;
  /** Waits until the condition is true. Rejects when `signal` aborts. */
  until(condition: () => boolean): Promise<void>;
  /**
   * Starts a child process with this command line. Without `run`, it ends with the program. With `run`, it ends when
   * `run` has finished, and continues if the program ends by itself.
   */
  spawn(command: string, run?: (child: ChildProgram) => Promise<void>): void;
  /** Command lines of all processes in the sandbox, this program included. */
  processes(): readonly string[];
  /** Listens for signals such as `SIGINT`, which would otherwise end the program. */
  onSignal(listener: (name: string) => void): void;
  /** Asks whether the sandbox may connect to a URL. The egress log records the answer; no connection is made. */
  connect(url: string): { readonly allowed: boolean; readonly reason: string };
}

/** A child process of a program. Its `signal` aborts, and its `sleep` rejects, when it is ended. */
export type ChildProgram = Pick<TestingProgram, "signal" | "sleep">;

/** How a program ends. `stdout` and `stderr` are appended to what it wrote before. */
export interface ProgramResult {
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  /** Exit code. Default 0, or 1 with an `error`. */
  readonly exitCode?: number | undefined;
  /** The value of the last expression as text. */
  readonly value?: string | undefined;
  /** The exception that ended the code, as the result's `error`. The exit code is then 1 unless it is given. */
  readonly error?: ExecutionError | undefined;
  /** Whether the interpreter ended too, which loses the variables of its context. */
  readonly contextLost?: boolean | undefined;
}

/** What a program does: its output, its result, or a function that acts and may return either. */
export type ProgramAnswer =
  | string
  | ProgramResult
  | ((program: TestingProgram) => string | ProgramResult | Promise<string | ProgramResult>)
  | ((program: TestingProgram) => void);

/** What programs do: a table by program text, or a function that returns `undefined` for unknown programs. */
export type Programs =
  | Readonly<Record<string, ProgramAnswer>>
  | ((program: TestingProgram) => ProgramAnswer | undefined);

/**
 * What a program does; undefined if the test does not define it.
 * @internal
 */
export function answerTo(programs: Programs, program: TestingProgram): ProgramAnswer | undefined {
  if (typeof programs === "function") return programs(program);
  return Object.hasOwn(programs, program.text) ? programs[program.text] : undefined;
}

/** @internal */
export async function performed(answer: ProgramAnswer, program: TestingProgram): Promise<ProgramResult> {
  const output = typeof answer === "function" ? await answer(program) : answer;
  return typeof output === "string" ? { stdout: output } : (output ?? {});
}
