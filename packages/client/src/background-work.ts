import { isSandboxError, type SandboxError } from "./errors.js";

/** Work that outlives the call it began in, or takes several calls, so that `close` can wait for it. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();
  readonly #warn: (warning: SandboxError) => void;

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

  /** For what several calls make together: to begin it and not to end it would leave something behind. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    const running = work();
    const over = (): void => undefined;
    this.run(() => running.then(over, over));
    return running;
  }

  warn(error: unknown): void {
    if (isSandboxError(error)) this.#warn(error);
  }

  async end(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
