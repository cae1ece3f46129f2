import type { Readable } from "node:stream";
import type { OutputText } from "../handlers/agent/outcome.js";
import type { KeptOutput } from "./kept-output.js";

/** Reads one output stream of a program and passes it to a `KeptOutput`. */
export class CapturedOutput {
  readonly ended: Promise<void>;
  #kept: KeptOutput | undefined;

  constructor(
    private readonly stream: Readable,
    kept: KeptOutput,
  ) {
    this.#kept = kept;
    stream.on("data", (chunk: Buffer) => {
      const written = kept.take(chunk);
      if (!written) return;
      stream.pause();
      void written.then(() => stream.resume());
    });
    this.ended = new Promise((resolve) => {
      stream.once("close", resolve);
      // A stream that fails counts as ended; what was read before is kept.
      stream.once("error", () => resolve());
    });
  }

  /** Resolves when everything read so far is in memory or in the file. */
  async written(): Promise<void> {
    await this.#kept?.written();
  }

  /** Reads what is left of a program that has ended, whether or not a reader keeps up. */
  readRest(): void {
    this.#kept?.readRest();
  }

  /**
   * Stops collecting and returns the text. Later bytes are read and dropped, so that processes that still write are
   * not blocked.
   */
  async finish(): Promise<OutputText> {
    this.stream.removeAllListeners("data");
    this.stream.resume();
    const kept = this.#kept;
    // A process in the background may keep the stream open as long as the sandbox lives. Drop the reference, so that
    // the collected output can be freed.
    this.#kept = undefined;
    if (!kept) return { text: "", bytes: 0, truncated: false };
    await kept.complete();
    return kept.text();
  }
}
