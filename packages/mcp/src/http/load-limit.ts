/** Limits how many requests, and how many bytes of their bodies, are served at the same time. */

export interface LoadLimitOptions {
  readonly mostRequests: number;
  /** The most bytes of all request bodies together. */
  readonly mostBytes: number;
}

/** The part of the limits that one admitted request takes. */
export interface LoadShare {
  /** Replaces the reserved size by the body's actual size, once the body has arrived. */
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

  /** Admits a request and reserves `bytes` for its body. Undefined if that would exceed a limit. */
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
