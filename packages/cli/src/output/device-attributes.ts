import { openSync, readFileSync } from "node:fs";
import { ReadStream } from "node:tty";

/** Milliseconds to wait for the terminal's answer. All terminals in use answer; those far away take a round trip. */
const patience = 1000;
/** The question for what a terminal can do, and its answer: numbers, of which 4 means sixel. */
const question = "\u001b[c";
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals answer with escape characters
const answer = /\u001b\[\?([\d;]*)c/;
const sixel = "4";
const interrupt = "\u0003";

/** Asks the terminal whether it shows images in sixel. What is typed meanwhile is lost. */
export async function hasSixel(): Promise<boolean> {
  if (!isForeground()) return false;
  const terminal = openTerminal();
  if (terminal === undefined) return false;
  try {
    terminal.setRawMode(true);
    const answered = new Promise<string>((resolve) => {
      let text = "";
      terminal.on("data", (piece) => {
        text += piece;
        const [, attributes] = answer.exec(text) ?? [];
        // In raw mode the terminal sends no signal.
        if (text.includes(interrupt)) process.kill(process.pid, "SIGINT");
        if (attributes !== undefined || text.includes(interrupt)) resolve(attributes ?? "");
      });
      terminal.once("error", () => resolve(""));
      setTimeout(() => resolve(""), patience).unref();
    });
    process.stdout.write(question);
    return (await answered).split(";").includes(sixel);
  } finally {
    terminal.setRawMode(false);
    terminal.destroy();
  }
}

/** The terminal of this process, which need not be its standard input. */
function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    return undefined;
  }
}

/**
 * Whether this process is in the terminal's foreground: the system stops processes in the background that change the terminal's mode.
 * True where the system does not say.
 */
function isForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return true;
  }
}
