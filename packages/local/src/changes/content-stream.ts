import { readSync, writeSync } from "node:fs";
import { type BytePath, bytesOf } from "./byte-path.js";
import { readPieces } from "./file-content.js";
import { OpenDirectory } from "./open-directory.js";

/** Lengths that stand for the end of a file: it was read whole, or could not be. */
const whole = 0;
const failed = 0xffffffff;

/** Sends a file below a directory: pieces with their length, then whether it is whole. */
export function sendContent(root: BytePath, path: BytePath, descriptor: number): void {
  const length = Buffer.alloc(4);
  const send = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  };
  const sendLength = (value: number): void => {
    length.writeUInt32BE(value);
    send(length);
  };
  const opened: OpenDirectory[] = [];
  let end = whole;
  try {
    const names = path.split("/");
    const last = names.pop() ?? "";
    opened.push(OpenDirectory.open(root));
    for (const name of names) opened.push((opened.at(-1) as OpenDirectory).directory(name));
    readPieces(opened.at(-1) as OpenDirectory, last, (piece) => {
      sendLength(piece.length);
      send(piece);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") throw error;
    end = failed;
  } finally {
    for (const directory of opened) directory.close();
  }
  sendLength(end);
}

/** Reads what {@link sendContent} sends, and lines before it. */
export class ContentReader {
  #bytes = Buffer.alloc(0);

  constructor(private readonly descriptor: number) {}

  line(): string {
    for (let from = 0; ; ) {
      const end = this.#bytes.indexOf(10, from);
      if (end !== -1) {
        const line = this.#bytes.toString("latin1", 0, end);
        this.#bytes = this.#bytes.subarray(end + 1);
        return line;
      }
      from = this.#bytes.length;
      this.#more();
    }
  }

  /** Passes on the next file's content. False if it could not be read whole. Reads on if `onPiece` throws, and then throws that. */
  content(onPiece: (piece: Buffer) => void): boolean {
    const errors: unknown[] = [];
    for (;;) {
      const length = this.#take(4).readUInt32BE();
      if (length === whole || length === failed) {
        if (errors.length > 0) throw errors[0];
        return length === whole;
      }
      for (let rest = length; rest > 0; ) {
        if (this.#bytes.length === 0) this.#more();
        const piece = this.#bytes.subarray(0, rest);
        this.#bytes = this.#bytes.subarray(piece.length);
        rest -= piece.length;
        try {
          if (errors.length === 0) onPiece(piece);
        } catch (error) {
          errors.push(error);
        }
      }
    }
  }

  #take(length: number): Buffer {
    while (this.#bytes.length < length) this.#more();
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  #more(): void {
    const piece = Buffer.allocUnsafe(64 * 1024);
    const length = readSync(this.descriptor, piece);
    if (length === 0) throw new Error("the sandbox's files could not be read to their end");
    const read = piece.subarray(0, length);
    this.#bytes = this.#bytes.length === 0 ? read : Buffer.concat([this.#bytes, read]);
  }
}

/** A line of a protocol between two programs, in which paths keep their bytes. */
export const protocolLine = (value: object): Buffer => bytesOf(`${JSON.stringify(value)}\n`);
