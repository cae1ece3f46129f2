/** The smallest buffer, in bytes. */
const least = 1024;

/**
 * Bytes that come in pieces, of which the sender decides the size. They are copied into one buffer, so that a sender of single
 * bytes costs no more memory than one of large blocks: each piece that is kept as it came costs hundreds of bytes more.
 */
export class GatheredBytes {
  #buffer: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** The bytes that were added and not dropped. They stay as they are, whatever is added or dropped later. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  add(piece: Uint8Array): void {
    if (this.length === 0) {
      // Most of what comes, comes in one piece.
      this.#buffer = piece;
      this.#start = 0;
      this.#end = piece.length;
      return;
    }
    if (this.#end + piece.length > this.#buffer.length) this.#grow(piece.length);
    this.#buffer.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    this.#start += count;
  }

  #grow(more: number): void {
    const { bytes } = this;
    const grown = new Uint8Array(Math.max(least, 2 * bytes.length, bytes.length + more));
    grown.set(bytes);
    this.#buffer = grown;
    this.#start = 0;
    this.#end = bytes.length;
  }
}
