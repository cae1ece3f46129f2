/** Emits `struct sock_filter` instructions. Every test is followed by its verdict, so that jumps stay short. */
export class BpfProgram {
  readonly #instructions: { code: number; jt: number; jf: number; k: number }[] = [];

  get length(): number {
    return this.#instructions.length;
  }

  load(at: number): this {
    return this.#emit(0x20, at);
  }

  return(verdict: number): this {
    return this.#emit(0x06, verdict);
  }

  ifEqual(value: number, verdict: number): this {
    return this.#emit(0x15, value, 0, 1).return(verdict);
  }

  unlessEqual(value: number, verdict: number): this {
    return this.#emit(0x15, value, 1, 0).return(verdict);
  }

  ifAnyBit(mask: number, verdict: number): this {
    return this.#emit(0x45, mask, 0, 1).return(verdict);
  }

  unlessOneOf(values: readonly number[], verdict: number): this {
    for (const [index, value] of values.entries()) this.#emit(0x15, value, values.length - index, 0);
    return this.return(verdict);
  }

  /** Runs `then` if the loaded value equals `value`; otherwise continues after it. `then` must end in a verdict. */
  when(value: number, then: (program: BpfProgram) => void): this {
    const inner = new BpfProgram();
    then(inner);
    return this.#skip(0x15, value, inner, true).append(inner);
  }

  /** Runs `below` if the loaded value is less than `value`, else `rest`. Both must end in a verdict. */
  split(value: number, below: BpfProgram, rest: BpfProgram): this {
    return this.#skip(0x35, value, below, false).append(below).append(rest);
  }

  append(program: BpfProgram): this {
    this.#instructions.push(...program.#instructions);
    return this;
  }

  assemble(): Buffer {
    const buffer = Buffer.alloc(this.#instructions.length * 8);
    for (const [index, { code, jt, jf, k }] of this.#instructions.entries()) {
      buffer.writeUInt16LE(code, index * 8);
      buffer.writeUInt8(jt, index * 8 + 2);
      buffer.writeUInt8(jf, index * 8 + 3);
      buffer.writeUInt32LE(k >>> 0, index * 8 + 4);
    }
    return buffer;
  }

  /**
   * Emits a conditional jump that enters `program` if the test's result is `isEntered`, else skips it. A conditional
   * jump reaches at most 255 instructions, so a longer `program` is skipped with an unconditional jump.
   */
  #skip(test: number, value: number, program: BpfProgram, isEntered: boolean): this {
    const isNear = program.length <= 255;
    const distance = isNear ? program.length : 0;
    if (isNear)
      return isEntered ? this.#emit(test, value, 0, distance) : this.#emit(test, value, distance, 0);
    return (isEntered ? this.#emit(test, value, 1, 0) : this.#emit(test, value, 0, 1)).#emit(
      0x05,
      program.length,
    );
  }

  #emit(code: number, k: number, jt = 0, jf = 0): this {
    this.#instructions.push({ code, jt, jf, k });
    return this;
  }
}
