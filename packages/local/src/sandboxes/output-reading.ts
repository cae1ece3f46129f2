import { type KeptOutput, outputFrames } from "@cloud-sandbox/server-kit/execution";
import type { ProgramReader } from "@cloud-sandbox/server-kit/handlers";

/** Passes the outputs of a program to a reader while the program runs. */
export class OutputReading {
  readonly #ending = new AbortController();
  #done: Promise<unknown> = Promise.resolve();

  constructor(private readonly reader: ProgramReader) {}

  /** Resolves when the reader has read both outputs to their end. */
  get done(): Promise<unknown> {
    return this.#done;
  }

  readonly follow = (stdout: KeptOutput, stderr: KeptOutput): void => {
    this.reader.begin();
    this.#done = Promise.all([this.#tell("stdout", stdout), this.#tell("stderr", stderr)]);
  };

  /** Stops reading. */
  end(): void {
    this.#ending.abort();
  }

  async #tell(type: "stdout" | "stderr", output: KeptOutput): Promise<void> {
    for await (const frame of outputFrames(type, output, this.#ending.signal)) await this.reader.take(frame);
  }
}
