import type { Terminal, TerminalSize } from "cloud-sandbox";

/** Control sequences that reset modes which a full-screen program may have left switched on. */
const resetModes =
  "\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[0m";

/** The sequences with which full-screen programs switch to the alternate screen (`h`) and back (`l`). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by escape characters
const alternateScreen = /\u001b\[\?(?:1049|1047|47)([hl])/g;
/** Characters at the end of an output that may be the beginning of such a sequence. */
const longestBeginning = 7;

const lost = "connection lost, trying again…";

/**
 * Milliseconds to wait before each of the two changes of size that make programs redraw their screen. The first wait lets
 * programs handle the input that was typed meanwhile: vi shows input that arrives during a redraw only at the next key.
 */
const redrawPause = 150;

/** This process's terminal, while it is connected with one in a sandbox. */
export class AttachedScreen {
  #isFull = false;
  #end = "";

  /** The size of this terminal, cut to the largest that terminals of sandboxes can have. */
  get size(): TerminalSize {
    const { columns, rows } = process.stdout;
    return { cols: Math.min(1000, Math.max(1, columns)), rows: Math.min(1000, Math.max(1, rows)) };
  }

  /** Shows that the connection is lost: in the last line if a program fills the screen, else in a new line. */
  showLost(): void {
    const text = this.#isFull
      ? `\u001b7\u001b[${this.size.rows};1H\u001b[2K\u001b[7m${lost}\u001b[0m\u001b8`
      : `\r\n${lost}\r\n`;
    process.stderr.write(text);
  }

  /** Removes the message of `showLost`, and makes programs redraw their screen. */
  showRestored(terminal: Terminal): void {
    const { cols, rows } = this.size;
    if (this.#isFull) process.stderr.write(`\u001b7\u001b[${rows};1H\u001b[2K\u001b8`);
    const other = { cols, rows: rows > 1 ? rows - 1 : 2 };
    setTimeout(() => terminal.resize(other).catch(() => undefined), redrawPause).unref();
    setTimeout(() => terminal.resize(this.size).catch(() => undefined), 2 * redrawPause).unref();
  }

  /**
   * Connects both terminals until the shell ends, and resolves with its exit code. All keys go to the sandbox, Ctrl-C too.
   * Restores this terminal at the end, also after an error.
   */
  async attach(terminal: Terminal): Promise<number> {
    const { stdin, stdout } = process;
    const restore = (): void => void (stdin.isTTY && stdin.setRawMode(false));
    const failed = (): void => terminal.close();
    const typed = (data: Buffer): void =>
      void terminal.write(decoder.decode(data, { stream: true })).catch(failed);
    const resized = (): void => {
      if (stdout.columns > 0 && stdout.rows > 0) terminal.resize(this.size).catch(failed);
    };
    const decoder = new TextDecoder();
    let isWhole = false;
    process.once("exit", restore);
    stdin.setRawMode(true);
    stdin.on("data", typed);
    stdin.once("end", failed);
    stdout.on("resize", resized);
    try {
      for await (const text of terminal) {
        this.#follow(text);
        stdout.write(text);
      }
      isWhole = true;
      return await terminal.exitCode();
    } finally {
      stdin.off("data", typed);
      stdin.off("end", failed);
      stdout.off("resize", resized);
      process.off("exit", restore);
      if (!isWhole) stdout.write(resetModes);
      restore();
      stdin.pause();
      terminal.close();
    }
  }

  /** Notes whether a program fills the screen. */
  #follow(text: string): void {
    const seen = this.#end + text;
    const last = [...seen.matchAll(alternateScreen)].at(-1)?.[1];
    if (last !== undefined) this.#isFull = last === "h";
    this.#end = seen.slice(-longestBeginning);
  }
}
