const star = 0x2a;

/**
 * Takes values out of bytes that come in pieces: each byte of a value becomes a `*`, so that lengths stay. Bytes are held back only
 * while they could be the beginning of a value.
 */
export class ValueMask {
  #held: Buffer = Buffer.alloc(0);
  readonly #values: readonly Buffer[];
  #hasFound = false;

  constructor(values: readonly string[]) {
    this.#values = values.map((value) => Buffer.from(value));
  }

  /** Whether a value was in the bytes so far. */
  get hasFound(): boolean {
    return this.#hasFound;
  }

  /** The bytes that may be passed on now. */
  add(piece: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const masked = this.#masked(bytes);
    const kept = Math.max(0, ...this.#values.map((value) => lengthOfBeginning(masked, value)));
    this.#held = masked.subarray(masked.length - kept);
    return masked.subarray(0, masked.length - kept);
  }

  /** What was held back, when no more bytes come. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  #masked(bytes: Buffer): Buffer {
    let masked = bytes;
    for (const value of this.#values) {
      for (let at = masked.indexOf(value); at >= 0; at = masked.indexOf(value, at + value.length)) {
        if (masked === bytes) masked = Buffer.from(bytes);
        this.#hasFound = true;
        masked.fill(star, at, at + value.length);
      }
    }
    return masked;
  }
}

/** How many of the last bytes are the beginning of a value. */
function lengthOfBeginning(bytes: Buffer, value: Buffer): number {
  const first = value[0] ?? 0;
  const from = Math.max(0, bytes.length - value.length + 1);
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    const length = bytes.length - at;
    if (bytes.compare(value, 0, length, at) === 0) return length;
  }
  return 0;
}

/** A text without the values. */
export function maskedText(text: string, values: readonly string[]): string {
  return values.reduce((masked, value) => masked.replaceAll(value, "*".repeat(value.length)), text);
}
