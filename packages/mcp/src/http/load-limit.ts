/** Limits how many requests, and how many bytes of their bodies, are served at the same time: in all, and of each client's token. */

export interface LoadLimitOptions {
  readonly mostRequests: number;
  /** The most bytes of all request bodies together. */
  readonly mostBytes: number;
}

/** The part of the limits that one admitted request takes. */
export interface LoadShare {
  /** Counts bytes of the body that have arrived. False if they exceed a limit: the request has to be refused then. */
  take(bytes: number): boolean;
  leave(): void;
}

interface Load {
  requests: number;
  bytes: number;
}

/** The part of the limits that one token may take where there are several: others get the rest. */
const shareOfToken = 1 / 2;

export class LoadLimit {
  readonly #all: Load = { requests: 0, bytes: 0 };
  readonly #byToken = new Map<string, Load>();

  constructor(private readonly options: LoadLimitOptions) {}

  /** Admits a request. Undefined if there are too many. `token`: the digest of its token, "" where clients need none. */
  enter(token: string): LoadShare | undefined {
    const { mostRequests, mostBytes } = this.options;
    const part = token === "" ? 1 : shareOfToken;
    const own = this.#byToken.get(token) ?? { requests: 0, bytes: 0 };
    if (this.#all.requests >= mostRequests || own.requests >= mostRequests * part) return undefined;
    this.#byToken.set(token, own);
    const loads = [this.#all, own];
    for (const load of loads) load.requests += 1;
    let held = 0;
    return {
      take: (bytes) => {
        if (this.#all.bytes + bytes > mostBytes || own.bytes + bytes > mostBytes * part) return false;
        held += bytes;
        for (const load of loads) load.bytes += bytes;
        return true;
      },
      leave: () => {
        for (const load of loads) {
          load.requests -= 1;
          load.bytes -= held;
        }
        if (own.requests === 0) this.#byToken.delete(token);
      },
    };
  }
}
