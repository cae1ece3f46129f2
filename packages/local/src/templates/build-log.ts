import { EventEmitter, once } from "node:events";

const limit = 512 * 1024;

/** What a build prints, for whoever asks later and for those who follow it. Its size is bounded. */
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

  /** Tells those who follow that there is something new, if only an end. */
  wake(): void {
    this.#events.emit("change");
  }

  /** Resolves with the next change, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    await once(this.#events, "change", { signal }).catch(() => undefined);
  }
}
