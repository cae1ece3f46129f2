/** Keeps what is being served at a time within bounds. */

export interface LoadLimitOptions {
  readonly mostRequests: number;
  /** Bytes of all their bodies. */
  readonly mostBytes: number;
}

/** What one request takes of the load. */
export interface LoadShare {
  /** Its body has come, and has this many bytes. */
  settle(bytes: number): void;
  leave(): void;
}

export class LoadLimit {
  readonly #options: LoadLimitOptions;
  #requests = 0;
  #bytes = 0;

  constructor(options: LoadLimitOptions) {
    this.#options = options;
  }

  /** Takes a request in whose body may have so many bytes; undefined when it would be too much. */
  enter(bytes: number): LoadShare | undefined {
    const { mostRequests, mostBytes } = this.#options;
    if (this.#requests >= mostRequests || this.#bytes + bytes > mostBytes) return undefined;
    let held = 0;
    let hasLeft = false;
    const settle = (actual: number): void => {
      if (hasLeft) return;
      this.#bytes += actual - held;
      held = actual;
    };
    this.#requests += 1;
    settle(bytes);
    const leave = (): void => {
      this.#requests -= 1;
      settle(0);
      hasLeft = true;
    };
    return { settle, leave };
  }
}
