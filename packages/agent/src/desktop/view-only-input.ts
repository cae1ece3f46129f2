import { Transform, type TransformCallback } from "node:stream";

/** What a viewer sends before its first message: the version, of which the older ones differ, the kind of security, and whether it shares the screen. */
const version = Buffer.from("RFB 003.008\n");
const greetingBytes = version.length + 1 + 1;
/** Longest message of a viewer, in bytes. Only clipboards are longer, which a viewer that may only look does not send. */
const longestMessage = 64 * 1024;

/** The length of a message of which the first bytes are here; undefined while too few are. */
type Length = (bytes: Buffer) => number | undefined;

const counted = (at: number, head: number, each: number): Length => {
  return (bytes) => (bytes.length < head ? undefined : head + each * bytes.readUIntBE(at, head - at));
};

/** Messages that a viewer needs to see something: formats, requests for updates, and the flow of updates (RFC 6143 and its extensions). */
const passed: Readonly<Record<number, Length>> = {
  0: () => 20,
  2: (bytes) => (bytes.length < 4 ? undefined : 4 + 4 * bytes.readUInt16BE(2)),
  3: () => 10,
  150: () => 10,
  248: counted(8, 9, 1),
};

/** Messages that would change something: keys, pointer, clipboard, power, size, and keys of QEMU. */
const dropped: Readonly<Record<number, Length>> = {
  4: () => 8,
  5: () => 6,
  // The extended clipboard has a negative length.
  6: (bytes) => (bytes.length < 8 ? undefined : 8 + Math.abs(bytes.readInt32BE(4))),
  250: () => 4,
  251: (bytes) => (bytes.length < 8 ? undefined : 8 + 16 * bytes.readUInt8(6)),
  255: () => 12,
};

/** Lets pass what a viewer of RFB needs to see the screen, and drops what would change it. Fails at anything else. */
export class ViewOnlyInput extends Transform {
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes of the greeting that were passed. The server answers each part before the viewer sends the next. */
  #greeted = 0;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    try {
      this.#greet();
      if (this.#greeted === greetingBytes) this.#filter();
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  #greet(): void {
    const part = this.#rest.subarray(0, greetingBytes - this.#greeted);
    const expected = version.subarray(this.#greeted);
    const length = Math.min(part.length, expected.length);
    if (part.compare(expected, 0, length, 0, length) !== 0)
      throw new Error("A viewer does not speak version 3.8 of RFB.");
    this.#greeted += part.length;
    this.#pass(part.length);
  }

  #filter(): void {
    while (this.#rest.length > 0) {
      const kind = this.#rest.readUInt8(0);
      const measure = passed[kind] ?? dropped[kind];
      if (!measure) throw new Error(`A viewer sent a message of the unknown kind ${kind}.`);
      const length = measure(this.#rest);
      if (length !== undefined && length > longestMessage)
        throw new Error("A viewer sent a message that is too long.");
      if (length === undefined || this.#rest.length < length) return;
      if (kind in passed) this.#pass(length);
      else this.#rest = this.#rest.subarray(length);
    }
  }

  #pass(length: number): void {
    if (length > 0) this.push(this.#rest.subarray(0, length));
    this.#rest = this.#rest.subarray(length);
  }
}
