import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { Duplex, type Readable, type Writable } from "node:stream";
import { sweepProcesses } from "../execution/programs/process-sweep.js";
import { startProcess } from "../execution/programs/started-program.js";
import ptyRelay from "./pty-relay.py?raw";

/** What makes pseudo-terminals. */
export const ptyInterpreter = "python3";

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface TerminalStart extends TerminalSize {
  readonly shell: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program in a pseudo-terminal. */
export class PseudoTerminal {
  private constructor(
    private readonly id: string,
    private readonly pid: number,
    /** What is typed. */
    readonly input: Writable,
    /** What is shown. It ends when the program has. */
    readonly output: Readable,
    private readonly sizes: Writable,
    /** The program's exit code, as shells tell it. */
    readonly exit: Promise<number>,
  ) {}

  static async start({ shell, cwd, env, cols, rows }: TerminalStart): Promise<PseudoTerminal> {
    const id = randomUUID();
    const relay = {
      command: ptyInterpreter,
      args: ["-ISc", ptyRelay, String(cols), String(rows), shell],
    };
    const {
      child,
      pid,
      exit: ended,
    } = await startProcess(relay, {
      cwd,
      env,
      stdio: ["pipe", "pipe", "ignore", "pipe"],
      id,
    });
    const { stdin, stdout, stdio } = child;
    const sizes = stdio[3];
    if (!stdin || !stdout || !(sizes instanceof Duplex)) throw new Error("A pipe to a terminal is missing.");
    // Whoever types into one that has just ended learns of it by its exit.
    for (const stream of [stdin, stdout, sizes]) stream.on("error", () => undefined);
    const exit = ended.then(([code, signal]) => code ?? 128 + (signal ? constants.signals[signal] : 0));
    return new PseudoTerminal(id, pid, stdin, stdout, sizes, exit);
  }

  /** The program is told by SIGWINCH. */
  resize({ cols, rows }: TerminalSize): void {
    if (this.sizes.writable) this.sizes.write(`${cols} ${rows}\n`);
  }

  /** Ends it with everything that was started in it. */
  async kill(): Promise<void> {
    await sweepProcesses(this.pid, this.id);
  }
}
