import { exhausted } from "./start-failure.js";

/** Counts executions and limits how many run at the same time. */
export class ExecutionSlots {
  /** Number of executions so far, and how many of them failed. */
  readonly counts = { total: 0, failed: 0 };
  /** Called whenever an execution has ended. */
  onFree: () => void = () => undefined;
  #active = 0;
  /** Number of active executions that a caller waits for; the others run in the background. */
  #awaited = 0;

  constructor(private readonly limit: number) {}

  get active(): number {
    return this.#active;
  }

  /** Whether no caller waits for any of the running executions. */
  get isQuiet(): boolean {
    return this.#awaited === 0;
  }

  /** Throws a 429 problem if the limit is reached. */
  check(): void {
    if (this.#active >= this.limit)
      throw exhausted(`${this.limit} programs run already, the most at a time. Wait until one has ended.`);
  }

  /** Takes a slot. Call the returned function to release it. */
  take(background = false): (succeeded: boolean) => void {
    const awaited = background ? 0 : 1;
    this.#active += 1;
    this.#awaited += awaited;
    this.counts.total += 1;
    return (succeeded) => {
      this.#active -= 1;
      this.#awaited -= awaited;
      if (!succeeded) this.counts.failed += 1;
      this.onFree();
    };
  }
}
