/** Runs asynchronous functions one after the other, in the order in which they were given. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all earlier work has ended, also if some of it failed. */
  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
