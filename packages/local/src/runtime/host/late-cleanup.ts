import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two attempts. */
const againMs = 500;

/** Finishes in the background what could not be cleaned up at once: the kernel may keep a process for a while that was killed. */
export class LateCleanups {
  readonly #ending = new AbortController();

  constructor(private readonly log: (message: string) => void) {}

  /**
   * Cleans up, and resolves after the first attempt. If that fails, attempts go on until one succeeds, and the log says so.
   * `what` names what is cleaned up. `onLate` is called if the first attempt fails; `done` resolves when one succeeds.
   */
  async attempt(
    what: string,
    cleanUp: () => Promise<void>,
    onLate: (done: Promise<void>) => void = () => undefined,
  ): Promise<void> {
    try {
      await cleanUp();
    } catch (error) {
      this.log(`${what} could not be removed yet, and is tried again: ${String(error)}`);
      onLate(this.#repeat(what, cleanUp));
    }
  }

  /** Attempts nothing more. What is left, the next control plane of this machine removes. */
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
