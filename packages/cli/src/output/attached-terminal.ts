import type { Terminal } from "cloud-sandbox";

/** Control sequences that reset modes which a full-screen program may have left switched on. */
const sane =
  "\u001b[?1049l\u001b[?25h\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[0m";

/**
 * Connects this process's terminal with one in a sandbox until its shell ends, and resolves with the shell's exit code. Keys
 * go there unread, Ctrl-C too. However it ends, this terminal is as it was before.
 */
export async function attachTerminal(terminal: Terminal): Promise<number> {
  const { stdin, stdout } = process;
  const restore = (): void => void (stdin.isTTY && stdin.setRawMode(false));
  const failed = (): void => terminal.close();
  const typed = (data: Buffer): void =>
    void terminal.write(decoder.decode(data, { stream: true })).catch(failed);
  const resized = (): void => {
    const { columns: cols, rows } = stdout;
    if (cols > 0 && rows > 0)
      terminal.resize({ cols: Math.min(cols, 1000), rows: Math.min(rows, 1000) }).catch(failed);
  };
  const decoder = new TextDecoder();
  let isWhole = false;
  process.once("exit", restore);
  stdin.setRawMode(true);
  stdin.on("data", typed);
  stdin.once("end", failed);
  stdout.on("resize", resized);
  try {
    for await (const text of terminal) stdout.write(text);
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
