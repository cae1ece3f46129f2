import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { BackgroundOutput, OutputPiece } from "@cloud-sandbox/server-kit/handlers";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** The largest piece passed on while a program runs, in bytes. */
const pieceBytes = 64 * 1024;

/** All output of a program. Can be read by offset, even while the program writes. */
export class OutputLog implements BackgroundOutput {
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

  append(output: string | Uint8Array): void {
    const bytes = typeof output === "string" ? encoder.encode(output) : output;
    if (this.#isOver || bytes.length === 0) return;
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
    const bytes = this.#buffer.subarray(start, end);
    const text = decoder.decode(bytes);
    return { text, ...(text.includes("\ufffd") && { base64: base64(bytes) }), start, end };
  }

  /** Yields the output in pieces as it is written, to its end. */
  async *follow(): AsyncGenerator<OutputPiece> {
    for (let offset = 0; ; ) {
      const changed = this.#changed.promise;
      const isOver = this.#isOver;
      const piece = await this.piece(offset, pieceBytes);
      offset = piece.end;
      if (piece.text !== "") yield piece;
      else if (isOver) return;
      else await changed;
    }
  }

  /** Yields the output as frames, to its end. */
  async *frames(type: "stdout" | "stderr"): AsyncGenerator<AgentSchemas["OutputFrame"]> {
    for await (const { base64, text: data } of this.follow()) {
      const timestamp = new Date().toISOString();
      yield { type, data, timestamp, ...(base64 !== undefined && { base64 }) };
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = signal();
  }
}

const base64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
