interface Use {
  inFlight: number;
  /** When the last use ended, or was noted, in milliseconds since 1970. */
  last: number;
}

/** When each sandbox was used last: requests from their first byte to their end, streams, terminals and tunnels. */
export class SandboxActivity {
  readonly #uses = new WeakMap<object, Use>();

  /** Counts a use as under way, until the returned function is called. */
  begin(sandbox: object): () => void {
    const use = this.#of(sandbox);
    use.inFlight += 1;
    let isUnderWay = true;
    return () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      use.inFlight -= 1;
      use.last = Date.now();
    };
  }

  /** Notes that the sandbox was used until `time`, now by default. */
  note(sandbox: object, time = Date.now()): void {
    const use = this.#of(sandbox);
    use.last = Math.max(use.last, time);
  }

  /** The time of the last use, in milliseconds since 1970: now, while one is under way. 0 if there was none. */
  last(sandbox: object): number {
    const { inFlight, last } = this.#of(sandbox);
    return inFlight > 0 ? Date.now() : last;
  }

  #of(sandbox: object): Use {
    const use = this.#uses.get(sandbox) ?? { inFlight: 0, last: 0 };
    this.#uses.set(sandbox, use);
    return use;
  }
}
