import { clientClosed, isSandboxError, type SandboxError } from "../errors/errors.js";

/** Work that continues after its call has returned, or takes several calls. `close()` waits for it. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();
  readonly #warn: (warning: SandboxError) => void;
  /** Number of running calls of `whole()`. Their work may call `during()` even after `end()`. */
  #wholes = 0;
  #isEnding = false;
  #close: () => void = () => undefined;
  /** Resolves when the client is being closed. Work that waits for its caller, such as a reader's next read, ends then. */
  readonly closing = new Promise<void>((resolve) => {
    this.#close = resolve;
  });

  constructor(warn: (warning: SandboxError) => void) {
    this.#warn = warn;
  }

  run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.warn(error))
      // Report an error of the warning hook itself here: nobody else would see it.
      .catch((error: unknown) => globalThis.process?.emitWarning?.(String(error)))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /**
   * Runs work that takes several calls, and would leave something behind if it were stopped half-way. Throws after
   * `end()`, unless `whole()` is running, because this work may be part of it.
   */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isEnding && this.#wholes === 0) throw clientClosed();
    const running = work();
    const over = (): void => undefined;
    this.run(() => running.then(over, over));
    return running;
  }

  /** Runs work that calls `during()` and is never itself part of other work. Throws after `end()`. */
  async whole<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isEnding) throw clientClosed();
    this.#wholes += 1;
    return this.during(work).finally(() => {
      this.#wholes -= 1;
    });
  }

  warn(error: unknown): void {
    if (isSandboxError(error)) this.#warn(error);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#close();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
