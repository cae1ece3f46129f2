import type { Secrets } from "../config/secrets.js";

/** Passes on text line by line with secrets hidden. It waits for whole lines, because a piece of text may end inside a secret. */
export class HiddenLines {
  #line = "";
  #tail = "";

  constructor(
    private readonly secrets: Secrets,
    private readonly onText?: ((text: string) => void) | undefined,
  ) {}

  add(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) this.#tell(this.#line + text.slice(0, end));
    this.#line = end > 0 ? text.slice(end) : this.#line + text;
    if (this.#line.length > longestLine) this.end();
  }

  /** Passes on the last line, which has no line end. */
  end(): void {
    if (this.#line !== "") this.#tell(this.#line);
    this.#line = "";
  }

  /** The end of the text. */
  get tail(): string {
    return (this.#tail + this.secrets.hide(this.#line)).slice(-longestTail);
  }

  #tell(text: string): void {
    const safe = this.secrets.hide(text);
    this.#tail = (this.#tail + safe).slice(-longestTail);
    this.onText?.(safe);
  }
}

const longestLine = 64 * 1024;
const longestTail = 8 * 1024;
