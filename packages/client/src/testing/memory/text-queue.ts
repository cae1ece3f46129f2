/** Text that is given piece by piece and taken as it comes. */
export class TextQueue implements AsyncIterable<string> {
  readonly #waiting: string[] = [];
  #isOver = false;
  #wake = (): void => undefined;

  push(text: string): void {
    if (this.#isOver) return;
    this.#waiting.push(text);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const text = this.#waiting.shift();
      if (text !== undefined) yield text;
      else if (this.#isOver) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
