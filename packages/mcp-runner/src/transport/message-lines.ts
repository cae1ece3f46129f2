/** Pieces that are joined at a time. Each piece that is kept as it came costs some thirty bytes more. */
const joinedPieces = 1024;

/** Lines of a stream that comes in pieces of text. */
export class MessageLines {
  #pieces: string[] = [];
  /** Bytes that came before the pieces, joined. */
  #begun: string[] = [];
  #length = 0;

  constructor(
    /** Most characters of a line. */
    private readonly limit: number,
    /** Called when a line is too long. It throws. */
    private readonly tooLong: () => never,
  ) {}

  /** Adds a piece and yields the lines that it completes. */
  *add(text: string): Generator<string, void, void> {
    let start = 0;
    for (;;) {
      const end = text.indexOf("\n", start);
      const piece = end === -1 ? text.slice(start) : text.slice(start, end);
      this.#length += piece.length;
      if (this.#length > this.limit) this.tooLong();
      if (piece !== "" && this.#pieces.push(piece) === joinedPieces) this.#join();
      if (end === -1) return;
      this.#join();
      const line = this.#begun.join("");
      this.#begun = [];
      this.#length = 0;
      start = end + 1;
      yield line;
    }
  }

  /** Bytes after the last line end. */
  get rest(): string {
    return [...this.#begun, ...this.#pieces].join("");
  }

  #join(): void {
    this.#begun.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}
