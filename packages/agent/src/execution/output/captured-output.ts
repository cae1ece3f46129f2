import type { Readable } from "node:stream";
import type { OutputText } from "@cloud-sandbox/server-kit/handlers";
import type { KeptOutput } from "./kept-output.js";

/** Collects one output stream. */
export class CapturedOutput {
  readonly ended: Promise<void>;
  #kept: KeptOutput | undefined;

  constructor(
    private readonly stream: Readable,
    kept: KeptOutput,
  ) {
    this.#kept = kept;
    stream.on("data", (chunk: Buffer) => {
      const turn = kept.take(chunk);
      if (!turn) return;
      stream.pause();
      void turn.then(() => stream.resume());
    });
    this.ended = new Promise((resolve) => {
      stream.once("close", resolve);
      // A stream that breaks has ended; what came before counts.
      stream.once("error", () => resolve());
    });
  }

  /** Resolves when what was read so far is where it belongs. */
  async written(): Promise<void> {
    await this.#kept?.written();
  }

  /** What was collected. Bytes that come later are read and dropped, so that whoever still writes is not blocked. */
  async finish(): Promise<OutputText> {
    this.stream.removeAllListeners("data");
    this.stream.resume();
    const kept = this.#kept;
    // The stream may go on for as long as the sandbox; what was collected need not.
    this.#kept = undefined;
    if (!kept) return { text: "", bytes: 0, truncated: false };
    await kept.complete();
    return kept.text();
  }
}
