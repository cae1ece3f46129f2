import type { Readable } from "node:stream";
import { printable } from "./printable.js";

const mostLines = 500;
const longestLine = 500;

/** The newest lines that the programs of the desktop have written, and what the agent says about them. */
export class DesktopLog {
  readonly #lines: string[] = [];

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(source: string, line: string): void {
    const text = printable(line.slice(0, longestLine)).trimEnd();
    if (text === "") return;
    this.#lines.push(`${new Date().toISOString()} ${source}: ${text}`);
    if (this.#lines.length > mostLines) this.#lines.shift();
  }

  /** Adds each line of a program's output. A line without an end is cut, so that it takes no memory. */
  follow(source: string, output: Readable | null | undefined): void {
    let rest = "";
    output?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = (lines.pop() ?? "").slice(0, longestLine);
      for (const line of lines) this.add(source, line);
    });
    output?.on("error", () => undefined);
  }
}
