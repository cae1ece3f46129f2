/** A queue of text: pieces are added, and read as they arrive. */
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
