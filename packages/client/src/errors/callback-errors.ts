/**
 * Remembers the error that a caller's callback threw, so that the call it aborted can reject with exactly that error.
 */
export class CallbackErrors {
  #thrown: { fault: unknown } | undefined;

  /** Wraps `call` so that an error it throws is remembered. */
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

  /** The error that the callback threw, if it threw one; otherwise `failure`. */
  or(failure: unknown): unknown {
    return this.#thrown === undefined ? failure : this.#thrown.fault;
  }
}
