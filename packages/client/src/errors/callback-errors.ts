/** What a function of the caller's threw: the call that it ends rejects with it, as it is. */
export class CallbackErrors {
  #thrown: { fault: unknown } | undefined;

  /** `call`, with its fault kept here. */
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

  /** The fault, where there is one; `failure` otherwise. */
  or(failure: unknown): unknown {
    return this.#thrown === undefined ? failure : this.#thrown.fault;
  }
}
