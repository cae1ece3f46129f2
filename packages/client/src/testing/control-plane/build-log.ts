/** The log of a template build. */
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

  /** Wakes the readers that wait for new output or for the end. */
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
