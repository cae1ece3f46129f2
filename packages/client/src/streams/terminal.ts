import { checkKnown } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import type { StreamOpener } from "./frame-stream.js";
import { Mutex } from "./mutex.js";
import { OnceRead } from "./once-read.js";
import { TerminalConnection, type TerminalReconnection, type TerminalSize } from "./terminal-connection.js";

/** Options of `terminal.open`. */
export interface TerminalOptions extends Partial<TerminalSize> {
  /** The program to run, by name or path. Default: bash, or sh if there is no bash. */
  shell?: string | undefined;
  /**
   * Whether the shell outlives a lost connection. The client then connects again by itself, for up to a minute: no output
   * and no input is lost or repeated, unless the shell wrote more than 256 KiB meanwhile. To be called when that happens,
   * give functions in place of `true`. Default false: the shell ends with its connection. Servers without this extension
   * ignore the option.
   *
   * The client connects again only while the output is read. Without a `close()` that reaches the server, the shell runs
   * on for 60 s.
   */
  resumable?: boolean | TerminalReconnection | undefined;
  /** Closes the terminal and ends what runs in it. */
  signal?: AbortSignal | undefined;
}

/**
 * A shell in a pseudo-terminal of a sandbox. `for await` yields the terminal's output and can be used once. `close()`,
 * leaving the loop and the signal end the shell and the processes it started.
 */
export class Terminal implements AsyncIterable<string>, AsyncDisposable {
  readonly #frames: TerminalConnection;
  readonly #reading: OnceRead<string, number>;
  readonly #mutex = new Mutex();

  /** @internal */
  static async open(access: StreamOpener, options: TerminalOptions): Promise<Terminal> {
    checkKnown("terminal.open", options, {
      cols: true,
      resumable: true,
      rows: true,
      shell: true,
      signal: true,
    });
    const { cols = 80, resumable = false, rows = 24, shell, signal } = options;
    checkSize({ cols, rows });
    if (shell !== undefined && (typeof shell !== "string" || shell === ""))
      throw invalidArgument("shell must be the name or the path of a program.");
    const terminal = new Terminal(
      new TerminalConnection({ access, size: { cols, rows }, shell, signal, resumable }),
    );
    await terminal.#frames.open();
    return terminal;
  }

  private constructor(connection: TerminalConnection) {
    this.#frames = connection;
    this.#reading = new OnceRead(
      () => this.#output(),
      (error) => this.#frames.report(error),
    );
  }

  /** Yields the terminal's output, including control sequences. */
  [Symbol.asyncIterator](): AsyncGenerator<string, void, void> {
    return this.#reading.iterate();
  }

  /** The shell's exit code, if it ends by itself. Reads the output to its end if nobody else does. */
  exitCode(): Promise<number> {
    return this.#reading.result();
  }

  /**
   * Types `text` into the terminal: `"ls\r"` runs a command, `"\u0003"` is Ctrl-C. The text of one call arrives in one
   * piece, in the order of the calls, whether or not they are awaited.
   */
  async write(text: string): Promise<void> {
    if (typeof text !== "string") throw invalidArgument("The text to type must be a string.");
    await this.#mutex.run(async () => {
      for (let at = 0; at < text.length; ) {
        const end = pieceEnd(text, at);
        await this.#frames.type(text.slice(at, end));
        at = end;
      }
    });
  }

  /** Changes the terminal's size and notifies the programs in it. */
  async resize(size: TerminalSize): Promise<void> {
    checkSize(size);
    await this.#frames.resize(size);
  }

  /** Ends the shell and the processes it started. */
  close(): void {
    this.#frames.close();
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async *#output(): AsyncGenerator<string, number, void> {
    try {
      for (;;) {
        const frame = await this.#frames.next();
        if (frame.type === "output") yield frame.data;
        else if (frame.type === "exit") return frame.code;
        else throw this.#frames.error(frame);
      }
    } finally {
      this.#frames.close();
    }
  }
}

/** Opens terminals in a sandbox. */
export class Terminals {
  readonly #access: StreamOpener;

  /** @internal */
  static of(access: StreamOpener): Terminals {
    return new Terminals(access);
  }

  private constructor(access: StreamOpener) {
    this.#access = access;
  }

  /**
   * Opens a terminal, 80 columns by 24 rows by default (WebSocket /terminal). Throws a `ResourceLimitError` if too many
   * are open, and a `ServerError` or `ValidationError` if the template has no terminals.
   */
  open(options: TerminalOptions = {}): Promise<Terminal> {
    return Terminal.open(this.#access, options);
  }
}

function checkSize(size: TerminalSize): void {
  for (const name of ["cols", "rows"] as const) {
    const value = size[name];
    if (!Number.isInteger(value) || value < 1 || value > 1000)
      throw invalidArgument(`${name} must be a whole number from 1 to 1000; it is ${value}.`);
  }
}

const pieceLength = 64 * 1024;

/** End of the next piece of input. Keeps surrogate pairs together, which are two units of a string. */
function pieceEnd(text: string, start: number): number {
  const end = start + pieceLength;
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
