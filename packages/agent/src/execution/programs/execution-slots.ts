import { exhausted } from "./start-failure.js";

/** Counts executions, and how many of them there may be at a time. */
export class ExecutionSlots {
  /** Executions so far, and those of them that failed. */
  readonly counts = { total: 0, failed: 0 };
  /** Called when an execution has ended. */
  onFree: () => void = () => undefined;
  #active = 0;
  /** Those of the active ones that somebody waits for. */
  #awaited = 0;

  constructor(private readonly limit: number) {}

  get active(): number {
    return this.#active;
  }

  /** Nobody waits for what runs now. */
  get isQuiet(): boolean {
    return this.#awaited === 0;
  }

  /** Throws the problem that tells to wait when there is no room. */
  check(): void {
    if (this.#active >= this.limit)
      throw exhausted(`${this.limit} programs run already, the most at a time. Wait until one has ended.`);
  }

  /** Takes a place, which the function that is returned gives back. */
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
