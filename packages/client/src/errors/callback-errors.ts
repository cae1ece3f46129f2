/** Remembers what a callback of the caller threw, so that the call it aborted can reject with exactly that. */
export class CallbackErrors {
  #thrown: { fault: unknown } | undefined;

  /** Wraps `call` so that what it throws is remembered. */
  of<Args extends unknown[], Result>(call: (...args: Args) => Result): (...args: Args) => Result {
    return (...args) => {
      try {
        return call(...args);
      } catch (fault) {
        this.#thrown = { fault };
        throw fault;
      }
    };
  }

  /** What the callback threw, if it threw; otherwise `failure`. */
  or(failure: unknown): unknown {
    return this.#thrown === undefined ? failure : this.#thrown.fault;
  }
}
