import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { Duplex, type Readable, type Writable } from "node:stream";
import { sweepProcesses } from "../execution/programs/process-sweep.js";
import { startProcess } from "../execution/programs/started-program.js";
import ptyRelay from "./pty-relay.py?raw";

/** The interpreter that runs the relay script which creates pseudo-terminals. */
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

/** A shell in a pseudo-terminal. */
export class PseudoTerminal {
  private constructor(
    private readonly id: string,
    private readonly pid: number,
    /** The keyboard input. */
    readonly input: Writable,
    /** The screen output. Ends when the program has ended. */
    readonly output: Readable,
    private readonly sizes: Writable,
    /** Resolves with the exit code, or 128 plus the signal's number, as in shells. */
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
    // Writing to a terminal that has just ended fails; the client learns of the end from its exit.
    for (const stream of [stdin, stdout, sizes]) stream.on("error", () => undefined);
    const exit = ended.then(([code, signal]) => code ?? 128 + (signal ? constants.signals[signal] : 0));
    return new PseudoTerminal(id, pid, stdin, stdout, sizes, exit);
  }

  /** Changes the size. The program gets SIGWINCH. */
  resize({ cols, rows }: TerminalSize): void {
    if (this.sizes.writable) this.sizes.write(`${cols} ${rows}\n`);
  }

  /** Kills the terminal and everything that was started in it. */
  async kill(): Promise<void> {
    await sweepProcesses(this.pid, this.id);
  }
}
