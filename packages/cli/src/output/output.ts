import { styleText } from "node:util";
import { type Problem, sentence } from "../errors/explain-error.js";
import { printable } from "./printable.js";
import type { Column } from "./table.js";

export interface OutputOptions {
  /** Print JSON: one document, or a line for each event of a stream. */
  readonly json?: boolean;
  /** Print only what scripts need, such as ids, and no notes. */
  readonly quiet?: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Everything that a command prints. Results go to standard output; notes, progress and errors to standard error. */
export class Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  #progress = false;

  constructor({ json = false, quiet = false }: OutputOptions = {}) {
    this.isJson = json;
    this.isQuiet = quiet;
  }

  /** Writes a result unchanged. */
  write(text: string | Uint8Array): void {
    this.endProgress();
    process.stdout.write(text);
  }

  /**
   * Passes a program's output on, unchanged, to the same stream of this command. Resolves when the stream has room for more, so
   * that a slow reader slows the program down, or when `signal` fires.
   */
  async pass(type: "stdout" | "stderr", piece: string | Uint8Array, signal: AbortSignal): Promise<void> {
    this.endProgress();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done);
      // A failure calls this too, and ends the command through its `Interruption`.
      if (process[type].write(piece, done) || signal.aborted) done();
    });
  }

  /** Writes a result as a line. */
  line(text: string): void {
    this.write(`${text}\n`);
  }

  /** Writes a value as one line of JSON: a result, or an event of a stream. */
  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** Lists rows: with `--json` an array of them, with `--quiet` the first column. Without rows, `none` is noted. */
  async table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): Promise<void> {
    if (this.isJson) return this.json(rows);
    if (rows.length === 0) return this.note(none);
    if (this.isQuiet) {
      for (const row of rows) this.line(printable(String(columns[0]?.value(row) ?? "")));
      return;
    }
    const { tableLines } = await import("./table.js");
    const { lines, titles } = tableLines(rows, columns, columnsOf(process.stdout));
    if (titles !== undefined) this.line(this.styled("bold", titles));
    for (const line of lines) this.line(line);
  }

  /** Prints one record: with `--json` the whole `value`, with `--quiet` only the first entry. */
  async record(value: unknown, entries: ReadonlyArray<readonly [string, unknown]>): Promise<void> {
    if (this.isJson) return this.json(value);
    if (this.isQuiet) return this.line(printable(String(entries[0]?.[1] ?? "")));
    const { recordLines } = await import("./table.js");
    for (const line of recordLines(entries)) this.line(line);
  }

  /** Reports that something was done: prints `text`, with `--json` the `value`, with `--quiet` nothing. */
  done(text: string, value: unknown): void {
    if (this.isJson) this.json(value);
    else if (!this.isQuiet) this.line(printable(text));
  }

  /** Prints a remark to standard error. Prints nothing with `--quiet` or `--json`. */
  note(text: string): void {
    if (this.isQuiet || this.isJson) return;
    this.endProgress();
    process.stderr.write(`cloud-sandbox: ${shownText(text)}\n`);
  }

  /** Prints to standard error that something was not done. Prints nothing with `--json`, whose document says it. */
  warn(text: string): void {
    if (this.isJson) return;
    this.endProgress();
    process.stderr.write(`cloud-sandbox: ${printable(text)}\n`);
  }

  /** Whether `progress` shows anything: only on a terminal. */
  get showsProgress(): boolean {
    return !this.isQuiet && !this.isJson && process.stderr.isTTY;
  }

  /** Shows the current step in a line that the next output replaces. Only on a terminal. */
  progress(text: string): void {
    if (!this.showsProgress) return;
    process.stderr.write(`\r\u001b[K${printable(text).slice(0, columnsOf(process.stderr) - 1)}`);
    this.#progress = true;
  }

  /** Prints to standard error why the command failed: one line, or with `--json` an object. */
  problem(problem: Problem): void {
    this.endProgress();
    if (!process.stderr.writable) return;
    const text = this.isJson
      ? JSON.stringify({ error: problem })
      : `cloud-sandbox: ${this.#onError("red", shownText(sentence(problem)))}`;
    process.stderr.write(`${text}\n`);
  }

  /** The text with a style, if standard output is a terminal with colours. */
  styled(style: Style, text: string): string {
    return hasColors(process.stdout) ? styleText(style, text) : text;
  }

  #onError(style: Style, text: string): string {
    return hasColors(process.stderr) ? styleText(style, text) : text;
  }

  /** Removes the line of `progress`. */
  endProgress(): void {
    if (!this.#progress) return;
    this.#progress = false;
    process.stderr.write("\r\u001b[K");
  }
}

/** The width of a terminal in columns. Unlimited for an output that is not a terminal. */
export function columnsOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? Math.max(1, stream.columns || 80) : Number.POSITIVE_INFINITY;
}

/** Whether to use colours: only on a terminal that has them, and not if NO_COLOR is set. */
function hasColors(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR && stream.hasColors();
}

/** A message without control characters, except line ends, which the log of a failed build contains. */
function shownText(text: string): string {
  return text.trimEnd().split("\n").map(printable).join("\n");
}
