import { KeptOutput } from "@cloud-sandbox/server-kit/execution";

/** Most bytes of each output that an answer contains, as through an agent. */
const outputLimit = 1024 * 1024;
/**
 * After this many bytes of an output, the server reads at most one chunk (64 KiB) in `paceMs`, because reading costs the
 * server more CPU than writing costs the program.
 */
const unpacedBytes = 4 * 1024 * 1024;
const paceMs = 2;

/** An output that makes its program wait when the program writes very much. */
export class PacedOutput extends KeptOutput {
  #hasPace = true;
  /** Ends the pause in reading. */
  #endPause: () => void = () => undefined;

  constructor() {
    super(outputLimit, undefined);
  }

  /** Ends all pauses. Small writes fill the stream's buffer with hundreds of chunks, and each would take `paceMs`. */
  override readRest(): void {
    this.#hasPace = false;
    this.#endPause();
    super.readRest();
  }

  override take(chunk: Buffer): Promise<void> | undefined {
    const waiting = super.take(chunk);
    if (waiting !== undefined || !this.#hasPace || this.bytes <= unpacedBytes) return waiting;
    return new Promise((resolve) => {
      const pause = setTimeout(resolve, paceMs);
      this.#endPause = () => {
        clearTimeout(pause);
        resolve();
      };
    });
  }
}
