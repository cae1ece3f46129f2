import { KeptOutput } from "@cloud-sandbox/server-kit/execution";
import type { OutputPiece } from "@cloud-sandbox/server-kit/handlers";

/** Most bytes of each output that an answer contains, as through an agent. */
const outputLimit = 1024 * 1024;
/**
 * After this many bytes of an output, the server reads at most one chunk (64 KiB) in `paceMs`, because reading costs the
 * server more CPU than writing costs the program.
 */
const unpacedBytes = 4 * 1024 * 1024;
const paceMs = 2;
/** If the reader has not read more than this many bytes of an output, the program has to wait. Twice as many bytes are kept. */
const unreadBytes = outputLimit / 4;

/** An output that makes its program wait when the program writes very much, or faster than the reader reads. */
export class PacedOutput extends KeptOutput {
  waitsForReader = false;
  #hasPace = true;
  /** Number of bytes that the reader has read. */
  #taken = 0;
  /** Ends the pause in reading, unless it is still needed. */
  #goOn: () => void = () => undefined;

  constructor() {
    super(outputLimit, undefined);
  }

  /** Ends all pauses. Small writes fill the stream's buffer with hundreds of chunks, and each would take `paceMs`. */
  readRest(): void {
    this.waitsForReader = false;
    this.#hasPace = false;
    this.#goOn();
  }

  override take(chunk: Buffer): Promise<void> | undefined {
    void super.take(chunk);
    if (this.#isAhead)
      return new Promise((resolve) => {
        this.#goOn = () => {
          if (!this.#isAhead) resolve();
        };
      });
    if (!this.#hasPace || this.bytes <= unpacedBytes) return undefined;
    return new Promise((resolve) => {
      const pause = setTimeout(resolve, paceMs);
      this.#goOn = () => {
        if (this.#hasPace) return;
        clearTimeout(pause);
        resolve();
      };
    });
  }

  override piece(offset: number, limit: number): Promise<OutputPiece> {
    this.#taken = offset;
    this.#goOn();
    return super.piece(offset, limit);
  }

  get #isAhead(): boolean {
    return this.waitsForReader && this.bytes - this.#taken > unreadBytes;
  }
}
