import { exhausted } from "../execution/programs/start-failure.js";

/**
 * Bounds what watching costs. A watched directory takes of a limit of the kernel's that other sandboxes may share, an
 * entry some memory of the agent's.
 */
export class WatchBudget {
  #directories = 0;
  #entries = 0;

  constructor(
    private readonly maxDirectories: number,
    private readonly maxEntries: number,
  ) {}

  /** Throws a problem that names the limit. */
  takeDirectory(): void {
    if (this.#directories >= this.maxDirectories)
      throw exhausted(
        `${this.maxDirectories} directories are watched already, the most at a time. Watch a smaller one.`,
      );
    this.#directories += 1;
  }

  takeEntry(): void {
    if (this.#entries >= this.maxEntries)
      throw exhausted(
        `${this.maxEntries} files and directories are watched already, the most at a time. Watch a smaller directory.`,
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
