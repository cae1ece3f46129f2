import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A screen with its colours, as escape sequences, and where the cursor is if it is shown. */
export interface ColouredScreen {
  readonly text: string;
  readonly cursor: { readonly column: number; readonly row: number } | undefined;
}

/** A terminal, made with tmux. Tests type in it as a person does, and read its screen. */
export class Tmux {
  readonly #name = `test-${randomUUID()}`;

  private constructor(private readonly env: Readonly<Record<string, string | undefined>>) {}

  /** Starts a shell command in a new terminal. The terminal stays when the command has ended. */
  static async start(
    command: string,
    env: Readonly<Record<string, string>>,
    { columns = 80, rows = 24 } = {},
  ): Promise<Tmux> {
    const tmux = new Tmux({ PATH: process.env.PATH, TERM: "xterm-256color", ...env });
    await tmux.#call("new-session", "-d", "-x", String(columns), "-y", String(rows), `${command}; exec cat`);
    return tmux;
  }

  /** Types text, without interpreting names of keys in it. */
  async type(text: string): Promise<void> {
    await this.#call("send-keys", "-l", text);
  }

  /** Presses keys by their names in tmux: Enter, Escape, C-c. */
  async press(...keys: string[]): Promise<void> {
    await this.#call("send-keys", ...keys);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#call("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** The text on the screen, without empty lines at its end. */
  async screen(): Promise<string> {
    return (await this.#call("capture-pane", "-p")).trimEnd();
  }

  async colouredScreen(): Promise<ColouredScreen> {
    const text = await this.#call("capture-pane", "-p", "-e");
    const format = "#{cursor_flag} #{cursor_x} #{cursor_y}";
    const [shown, column = 0, row = 0] = (await this.#call("display-message", "-p", format))
      .split(" ")
      .map(Number);
    return { text, cursor: shown === 1 ? { column, row } : undefined };
  }

  async end(): Promise<void> {
    await this.#call("kill-server").catch(() => undefined);
  }

  async #call(...args: string[]): Promise<string> {
    return (await run("tmux", ["-L", this.#name, "-f", "/dev/null", ...args], { env: this.env })).stdout;
  }
}
