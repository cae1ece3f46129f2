import { EventEmitter, once } from "node:events";

const limit = 512 * 1024;

/** The output of a build, for callers who read it later and for those who follow it live. At most 512 KiB are kept. */
export class BuildLog {
  readonly #events = new EventEmitter().setMaxListeners(0);
  #text: string;
  #isCut = false;

  constructor(text = "") {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  append(text: string): void {
    if (this.#isCut || text === "") return;
    this.#text += text;
    if (this.#text.length > limit) {
      this.#isCut = true;
      this.#text = `${this.#text.slice(0, limit)}\n… the rest was left out: the log is longer than ${limit / 1024} KiB.\n`;
    }
    this.wake();
  }

  line(text: string): void {
    this.append(this.#text === "" || this.#text.endsWith("\n") ? `${text}\n` : `\n${text}\n`);
  }

  /** Wakes the followers: there is more output, or the build has ended. */
  wake(): void {
    this.#events.emit("change");
  }

  /** Resolves at the next {@link wake}, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    await once(this.#events, "change", { signal }).catch(() => undefined);
  }
}
