/** Keeps what is being served at a time within bounds. */

export interface LoadLimitOptions {
  readonly mostRequests: number;
  /** Bytes of all their bodies. */
  readonly mostBytes: number;
}

export class LoadLimit {
  readonly #options: LoadLimitOptions;
  #requests = 0;
  #bytes = 0;

  constructor(options: LoadLimitOptions) {
    this.#options = options;
  }

  /** Takes a request in; false when it would be too much. */
  enter(bytes: number): boolean {
    const { mostRequests, mostBytes } = this.#options;
    if (this.#requests >= mostRequests || this.#bytes + bytes > mostBytes) return false;
    this.#requests += 1;
    this.#bytes += bytes;
    return true;
  }

  leave(bytes: number): void {
    this.#requests -= 1;
    this.#bytes -= bytes;
  }
}
