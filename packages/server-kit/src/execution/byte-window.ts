/**
 * Keeps the beginning and the end of a byte stream in bounded memory. Chunks are copied into two buffers, so that a
 * program that writes single bytes costs no more memory than one that writes large blocks.
 */
export class ByteWindow {
  #head = Buffer.alloc(0);
  #headLength = 0;
  #tail: Buffer | undefined;
  /** Number of bytes received, including those no longer kept. */
  total = 0;

  private readonly tailLimit: number;

  /** Keeps `limit` bytes, of these at most `headLimit` from the beginning: half of them by default. */
  constructor(
    readonly limit: number,
    private readonly headLimit = Math.ceil(limit / 2),
  ) {
    this.tailLimit = limit - headLimit;
  }

  /** Whether bytes from the middle were dropped. */
  get overflowed(): boolean {
    return this.total > this.limit;
  }

  push(chunk: Buffer): void {
    const forHead = Math.min(chunk.length, this.headLimit - this.#headLength);
    if (forHead > 0) this.#pushHead(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.#pushTail(chunk.subarray(forHead));
    this.total += chunk.length;
  }

  head(): Buffer {
    return this.#head.subarray(0, this.#headLength);
  }

  tail(): Buffer {
    const length = this.total - this.#headLength;
    if (!this.#tail || length <= this.tailLimit) return (this.#tail ?? Buffer.alloc(0)).subarray(0, length);
    const seam = length % this.tailLimit;
    return Buffer.concat([this.#tail.subarray(seam), this.#tail.subarray(0, seam)]);
  }

  /**
   * At most `limit` bytes from `offset` on. If the byte at `offset` was dropped, starts at the first later one that
   * is kept. Stops at the gap between beginning and end.
   */
  slice(offset: number, limit: number): { readonly start: number; readonly bytes: Buffer } {
    const head = this.head();
    const tail = this.tail();
    if (!this.overflowed)
      return { start: offset, bytes: Buffer.concat([head, tail]).subarray(offset, offset + limit) };
    if (offset < head.length) return { start: offset, bytes: head.subarray(offset, offset + limit) };
    const tailStart = this.total - tail.length;
    const start = Math.max(offset, tailStart);
    return { start, bytes: tail.subarray(start - tailStart, start - tailStart + limit) };
  }

  #pushHead(bytes: Buffer): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(Math.max(length, this.#head.length * 2, 1024), this.headLimit),
      );
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    bytes.copy(this.#head, this.#headLength);
    this.#headLength = length;
  }

  /** The tail is a ring buffer: the byte at offset n after the head is stored at n modulo the buffer's size. */
  #pushTail(bytes: Buffer): void {
    if (this.tailLimit === 0) return;
    this.#tail ??= Buffer.allocUnsafe(this.tailLimit);
    const kept = bytes.subarray(Math.max(0, bytes.length - this.tailLimit));
    const offset = Math.max(0, this.total - this.headLimit) + (bytes.length - kept.length);
    const position = offset % this.tailLimit;
    const copied = kept.copy(this.#tail, position);
    if (copied < kept.length) kept.copy(this.#tail, 0, copied);
  }
}
