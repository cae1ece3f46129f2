import type { TerminalFrame } from "@cloud-sandbox/protocol";
import { invalidArgument } from "../errors/errors.js";
import { terminalFrames } from "./frame-fields.js";
import { FrameStream, type StreamOpener } from "./frame-stream.js";
import { OnceRead } from "./once-read.js";

/** The size of a terminal, in characters. */
export interface TerminalSize {
  /** 1 to 1000. */
  cols: number;
  /** 1 to 1000. */
  rows: number;
}

/** What a terminal is opened with. */
export interface TerminalOptions extends Partial<TerminalSize> {
  /** The program to run in it, by name or path. Default: bash, or sh where there is none. */
  shell?: string | undefined;
  /** Ends the terminal, and what runs in it. */
  signal?: AbortSignal | undefined;
}

/**
 * A shell at a pseudo-terminal in a sandbox. `for await` gives what it shows, once, to its end; closing it, leaving the
 * loop and the signal end the shell and what was started from it.
 */
export class Terminal implements AsyncIterable<string>, AsyncDisposable {
  readonly #frames: FrameStream<TerminalFrame>;
  readonly #reading: OnceRead<string, number>;

  /** @internal */
  static async open(access: StreamOpener, options: TerminalOptions): Promise<Terminal> {
    const { cols = 80, rows = 24, shell, signal } = options;
    checkSize({ cols, rows });
    if (shell !== undefined && (typeof shell !== "string" || shell === ""))
      throw invalidArgument("shell must be the name or the path of a program.");
    const query = new URLSearchParams({ cols: String(cols), rows: String(rows) });
    if (shell !== undefined) query.set("shell", shell);
    const terminal = new Terminal(access, `/terminal?${query}`, signal);
    await terminal.#frames.open();
    return terminal;
  }

  private constructor(access: StreamOpener, path: string, signal: AbortSignal | undefined) {
    // People think for as long as they like.
    const silence = Number.POSITIVE_INFINITY;
    this.#frames = new FrameStream({ access, path, signal, silence, fields: terminalFrames });
    this.#reading = new OnceRead(
      () => this.#output(),
      (error) => this.#frames.report(error),
    );
  }

  /** What it shows, with the terminal's control sequences. */
  [Symbol.asyncIterator](): AsyncGenerator<string, void, void> {
    return this.#reading.iterate();
  }

  /** The shell's exit code, when it ends by itself. Reads what it shows where nobody else does. */
  exitCode(): Promise<number> {
    return this.#reading.result();
  }

  /** Types `text`: `"ls\r"` runs a command, `"\u0003"` is Ctrl-C. */
  async write(text: string): Promise<void> {
    if (typeof text !== "string") throw invalidArgument("What is typed must be text.");
    for (let at = 0; at < text.length; ) {
      const end = pieceEnd(text, at);
      await this.#frames.send({ type: "input", data: text.slice(at, end) });
      at = end;
    }
  }

  /** Gives it another size; programs in it are told. */
  async resize(size: TerminalSize): Promise<void> {
    checkSize(size);
    await this.#frames.send({ type: "resize", cols: size.cols, rows: size.rows });
  }

  /** Ends the shell and what was started from it. */
  close(): void {
    this.#frames.close();
  }

  /** As `close`, at the end of the scope of `await using`. */
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

/** The terminals of a sandbox. */
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
   * Opens one, of 80 columns and 24 rows unless told otherwise (WebSocket /terminal). Throws a `ResourceLimitError` where
   * too many are open, and a `ServerError` or `ValidationError` where the template has no terminals.
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

/** Characters that take two places stay whole. */
function pieceEnd(text: string, start: number): number {
  const end = start + pieceLength;
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
