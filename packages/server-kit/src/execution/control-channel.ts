import type { Duplex } from "node:stream";
import { GatheredBytes } from "@cloud-sandbox/protocol/gathered-bytes";

/** Most bytes in a frame. No driver sends more. */
const frameLimit = 12 * 1024 * 1024;
const lengthBytes = 4;
/** Bytes of the smallest piece in which a driver sends a frame that is too large for the socket's buffer. */
const smallestPiece = 1024;
/** Milliseconds that the channel is not read after a smaller piece: so its sender waits, which makes this process work for each byte. */
const pauseMs = 10;

export interface Frame {
  /** The type of the frame: one letter. */
  readonly kind: string;
  readonly payload: Buffer;
}

/** Sources for an interpreter to run, as it reads them from its channel before the first request. */
export const sourceBytes = (sources: readonly string[]): Buffer => Buffer.concat(sources.map(withLength));

function withLength(text: string): Buffer {
  const body = Buffer.from(text);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/**
 * The socket between the agent and the driver in an interpreter. A frame is a length, a letter for its type, and a
 * payload. Code that the driver runs can write to the socket too, so the agent trusts frames only for the context
 * that they came from.
 */
export class ControlChannel {
  readonly closed: Promise<void>;
  #held = new GatheredBytes();
  #needed = lengthBytes;
  #isIgnored = false;

  constructor(
    private readonly socket: Duplex,
    /** Called for each frame; with `undefined` when the bytes are not a valid frame. */
    private readonly onFrame: (frame: Frame | undefined) => void,
  ) {
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    // A connection error is handled as a close: the socket emits "close" after it.
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      if (!this.#isIgnored) this.#take(chunk);
      if (this.#held.length === 0 || chunk.length >= smallestPiece) return;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
  }

  /** Sends a request: a list of fields, which must not be empty or contain a null byte, and an arbitrary text. */
  send(fields: readonly string[], text: string): void {
    this.socket.write(withLength(`${fields.join("\0")}\0\0${text}`));
  }

  /**
   * Takes no more frames. What still comes is dropped: if the channel were closed instead, code that floods it would see an error,
   * and might end by itself before it is killed.
   */
  ignore(): void {
    this.#isIgnored = true;
    this.#held = new GatheredBytes();
  }

  close(): void {
    this.ignore();
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#held.add(chunk);
    while (this.#held.length >= this.#needed && !this.#isIgnored) {
      const { bytes } = this.#held;
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
      if (length === 0 || length > frameLimit) {
        this.ignore();
        this.onFrame(undefined);
        return;
      }
      this.#needed = lengthBytes + length;
      if (bytes.length < this.#needed) return;
      this.#held.drop(this.#needed);
      const frame = Buffer.from(bytes.buffer, bytes.byteOffset + lengthBytes, length);
      this.#needed = lengthBytes;
      this.onFrame({ kind: String.fromCharCode(frame[0] ?? 0), payload: frame.subarray(1) });
    }
  }
}
