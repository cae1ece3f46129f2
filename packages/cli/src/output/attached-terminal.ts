import type { Terminal, TerminalSize } from "cloud-sandbox";

/** Control sequences that reset modes which a full-screen program may have left switched on. */
const sane =
  "\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[0m";

/** How full-screen programs turn to a screen of their own, `h`, and back, `l`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by escape characters
const otherScreen = /\u001b\[\?(?:1049|1047|47)([hl])/g;
/** Characters at the end of an output that may be the beginning of such a sequence. */
const longestBeginning = 7;

const lost = "connection lost, trying again…";

/**
 * Milliseconds before programs see another size, so that they show their screen again, and before they see the real one. The
 * first is for what was typed meanwhile: vi shows what comes while it redraws only with the next key.
 */
const redrawPause = 150;

/** This process's terminal, while it is connected with one in a sandbox. */
export class AttachedScreen {
  #isFull = false;
  #end = "";

  /** The size, within what terminals of sandboxes can have. */
  get size(): TerminalSize {
    const { columns, rows } = process.stdout;
    return { cols: Math.min(1000, Math.max(1, columns)), rows: Math.min(1000, Math.max(1, rows)) };
  }

  /** Says that the connection is lost: in the last line where a program fills the screen, else in a line of its own. */
  showLost(): void {
    const text = this.#isFull
      ? `\u001b7\u001b[${this.size.rows};1H\u001b[2K\u001b[7m${lost}\u001b[0m\u001b8`
      : `\r\n${lost}\r\n`;
    process.stderr.write(text);
  }

  /** Takes that away again, and has programs show their screen again. */
  showRestored(terminal: Terminal): void {
    const { cols, rows } = this.size;
    if (this.#isFull) process.stderr.write(`\u001b7\u001b[${rows};1H\u001b[2K\u001b8`);
    const other = { cols, rows: rows > 1 ? rows - 1 : 2 };
    setTimeout(() => terminal.resize(other).catch(() => undefined), redrawPause).unref();
    setTimeout(() => terminal.resize(this.size).catch(() => undefined), 2 * redrawPause).unref();
  }

  /**
   * Connects both terminals until the shell ends, and resolves with its exit code. Keys go there unread, Ctrl-C too. However
   * it ends, this terminal is as it was before.
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
      if (!isWhole) stdout.write(sane);
      restore();
      stdin.pause();
      terminal.close();
    }
  }

  /** Notes whether a program fills the screen. */
  #follow(text: string): void {
    const seen = this.#end + text;
    const last = [...seen.matchAll(otherScreen)].at(-1)?.[1];
    if (last !== undefined) this.#isFull = last === "h";
    this.#end = seen.slice(-longestBeginning);
  }
}
