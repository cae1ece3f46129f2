import type { Duplex } from "node:stream";

/** Bytes of a frame; more than any driver of ours sends. */
const frameLimit = 12 * 1024 * 1024;
const lengthBytes = 4;

export interface Frame {
  /** One letter. */
  readonly kind: string;
  readonly payload: Buffer;
}

/**
 * The socket between the agent and the driver in an interpreter, with frames of a length, a letter and a payload. The
 * code that the driver runs may write to it as well: what comes from there is believed by nobody but its own context.
 */
export class ControlChannel {
  readonly closed: Promise<void>;
  #chunks: Buffer[] = [];
  #held = 0;
  #needed = lengthBytes;

  constructor(
    private readonly socket: Duplex,
    /** Gets nothing when what came is no frame. */
    private readonly onFrame: (frame: Frame | undefined) => void,
  ) {
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    // A break is a close.
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  /** Sends a request: fields, none of which is empty or holds a null byte, and a text that may be anything. */
  send(fields: readonly string[], text: string): void {
    const body = Buffer.from(`${fields.join("\0")}\0\0${text}`);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(body.length);
    this.socket.write(Buffer.concat([length, body]));
  }

  close(): void {
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= this.#needed && !this.socket.destroyed) {
      const held = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks);
      this.#chunks = [held];
      const length = held.readUInt32BE(0);
      if (length === 0 || length > frameLimit) {
        this.close();
        this.onFrame(undefined);
        return;
      }
      this.#needed = lengthBytes + length;
      if (this.#held < this.#needed) return;
      this.#chunks = [held.subarray(this.#needed)];
      this.#held -= this.#needed;
      const frame = held.subarray(lengthBytes, this.#needed);
      this.#needed = lengthBytes;
      this.onFrame({ kind: String.fromCharCode(frame[0] ?? 0), payload: frame.subarray(1) });
    }
  }
}
