/** What a build prints. */
export class BuildLog {
  readonly #waiting = new Set<() => void>();
  text = "";

  append(text: string): void {
    this.text += text;
    this.wake();
  }

  line(text: string): void {
    this.append(this.text === "" || this.text.endsWith("\n") ? `${text}\n` : `\n${text}\n`);
  }

  /** Tells those who follow that there is something new, if only an end. */
  wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
