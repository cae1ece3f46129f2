import { clientClosed, isSandboxError, type SandboxError } from "../errors/errors.js";

/** Work that outlives the call it began in, or takes several calls, so that `close` can wait for it. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();
  readonly #warn: (warning: SandboxError) => void;
  /** How many run that others are parts of. */
  #wholes = 0;
  #isEnding = false;

  constructor(warn: (warning: SandboxError) => void) {
    this.#warn = warn;
  }

  run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.warn(error))
      // Nobody else hears what the hook for warnings throws.
      .catch((error: unknown) => globalThis.process?.emitWarning?.(String(error)))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /**
   * For what several calls make together: to begin it and not to end it would leave something behind. Once the end has begun
   * it is refused, unless it may be a part of what is under way.
   */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isEnding && this.#wholes === 0) throw clientClosed();
    const running = work();
    const over = (): void => undefined;
    this.run(() => running.then(over, over));
    return running;
  }

  /** For what is made of such work, and never a part of any. */
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
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
