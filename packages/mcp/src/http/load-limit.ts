/** Limits the requests and the bytes of bodies that are served at a time. */

export interface LoadLimitOptions {
  readonly mostRequests: number;
  /** Bytes of all their bodies. */
  readonly mostBytes: number;
}

/** One request's share of the load. */
export interface LoadShare {
  /** The body has arrived and has this many bytes. */
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

  /** Admits a request whose body may have so many bytes. Undefined when the load would be too high. */
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
