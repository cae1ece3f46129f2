import type { JobOutput, OutputPiece } from "@cloud-sandbox/server-kit/handlers";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** The largest piece passed on while a program runs, in bytes. */
const pieceBytes = 64 * 1024;

/** All output of a program. Can be read by offset, even while the program writes. */
export class OutputLog implements JobOutput {
  #buffer = new Uint8Array(1024);
  #length = 0;
  #isOver = false;
  #changed = signal();

  get bytes(): number {
    return this.#length;
  }

  get text(): string {
    return decoder.decode(this.#buffer.subarray(0, this.#length));
  }

  append(text: string): void {
    if (this.#isOver || text === "") return;
    const bytes = encoder.encode(text);
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
    this.#wake();
  }

  /** Marks the end of the output. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async piece(offset: number, limit: number): Promise<OutputPiece> {
    const start = Math.min(offset, this.#length);
    let end = Math.min(start + limit, this.#length);
    // Do not split a multi-byte character.
    while (end > start && end < this.#length && isContinuation(this.#buffer[end])) end -= 1;
    return { text: decoder.decode(this.#buffer.subarray(start, end)), start, end };
  }

  /** Yields the output in pieces as it is written, to its end. */
  async *follow(): AsyncGenerator<string> {
    for (let offset = 0; ; ) {
      const changed = this.#changed.promise;
      const isOver = this.#isOver;
      const { text, end } = await this.piece(offset, pieceBytes);
      offset = end;
      if (text !== "") yield text;
      else if (isOver) return;
      else await changed;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = signal();
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
