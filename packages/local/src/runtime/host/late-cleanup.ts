import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two attempts. */
const againMs = 500;

/** Repeats failed cleanups in the background. They fail, for example, while the kernel still keeps a killed process. */
export class LateCleanups {
  readonly #ending = new AbortController();

  constructor(private readonly log: (message: string) => void) {}

  /**
   * Calls `cleanUp` and resolves. If the call failed, it is repeated until it succeeds, and both are logged under the name
   * `what`. `onLate` is called after a first failure; its `done` resolves when a repeated call succeeds.
   */
  async attempt(
    what: string,
    cleanUp: () => Promise<void>,
    onLate: (done: Promise<void>) => void = () => undefined,
  ): Promise<void> {
    try {
      await cleanUp();
    } catch (error) {
      this.log(
        `${what} could not be removed yet; trying again until it succeeds: ${error instanceof Error ? error.message : String(error)}`,
      );
      onLate(this.#repeat(what, cleanUp));
    }
  }

  /** Stops repeating. The next control plane on this machine removes what remains. */
  close(): void {
    this.#ending.abort();
  }

  async #repeat(what: string, cleanUp: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await sleep(againMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      const isDone = await cleanUp().then(
        () => true,
        () => false,
      );
      if (isDone) return this.log(`${what} is removed now.`);
    }
  }
}
