import { exhausted } from "../execution/programs/start-failure.js";

/**
 * Limits the cost of watching. Each watched directory counts towards a limit of the kernel that other sandboxes may
 * share, and each entry takes some of the agent's memory.
 */
export class WatchBudget {
  #directories = 0;
  #entries = 0;

  constructor(
    private readonly maxDirectories: number,
    private readonly maxEntries: number,
  ) {}

  /** Counts a watched directory. Throws a 429 problem if the limit is reached. */
  takeDirectory(): void {
    if (this.#directories >= this.maxDirectories)
      throw exhausted(
        `${this.maxDirectories} directories are watched already, the most at a time. Watch a directory with fewer subdirectories.`,
      );
    this.#directories += 1;
  }

  takeEntry(): void {
    if (this.#entries >= this.maxEntries)
      throw exhausted(
        `${this.maxEntries} files and directories are watched already, the most at a time. Watch a directory with fewer entries.`,
      );
    this.#entries += 1;
  }

  giveBackEntry(): void {
    this.#entries -= 1;
  }

  giveBackDirectory(entries: number): void {
    this.#directories -= 1;
    this.#entries -= entries;
  }
}
