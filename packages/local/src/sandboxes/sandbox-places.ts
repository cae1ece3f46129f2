import { Problem } from "@cloud-sandbox/server-kit";

/**
 * Counts sandboxes, and programs that run without one, against the limit of both together, and against the limit of the API
 * key that they belong to.
 */
export class SandboxPlaces {
  readonly #held = new Map<string | undefined, number>();
  #heldByAll = 0;
  #onFreed: () => void = () => undefined;

  constructor(
    readonly limit: number,
    /**
     * The number of sandboxes that exist, of all keys or of one. Those being created or removed, and programs, hold a place
     * each instead.
     */
    private readonly existing: (keyId?: string) => number,
    private readonly limitOfKey: (keyId: string) => number | undefined = () => undefined,
  ) {}

  get hasRoom(): boolean {
    return this.#taken < this.limit;
  }

  /** Whether the API key may have one more. The server's own key has no limit of its own. */
  hasRoomFor(keyId: string | undefined): boolean {
    const limit = keyId === undefined ? undefined : this.limitOfKey(keyId);
    return keyId === undefined || limit === undefined || this.#takenBy(keyId) < limit;
  }

  onFreed(listener: () => void): void {
    this.#onFreed = listener;
  }

  /** Throws a 429 problem if there is no room for one more of this API key. */
  requireRoom(keyId?: string): void {
    if (keyId !== undefined && !this.hasRoomFor(keyId))
      throw noRoom(
        `This API key may have at most ${this.limitOfKey(keyId)} sandboxes and programs at a time.`,
        "Delete a sandbox first, or ask whoever runs the server for a key with a higher --max-sandboxes.",
        this.limitOfKey(keyId) ?? 0,
        this.#takenBy(keyId),
      );
    if (!this.hasRoom)
      throw noRoom(
        `This machine holds at most ${this.limit} sandboxes at a time.`,
        "Delete a sandbox first, or raise the limit with --max-sandboxes.",
        this.limit,
        this.#taken,
      );
  }

  /** Holds a place for an API key, even if there is no room, until the returned function is called. */
  hold(keyId?: string): () => void {
    this.#add(keyId, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#add(keyId, -1);
      this.#onFreed();
    };
  }

  get #taken(): number {
    return this.existing() + this.#heldByAll;
  }

  #takenBy(keyId: string): number {
    return this.existing(keyId) + (this.#held.get(keyId) ?? 0);
  }

  #add(keyId: string | undefined, change: 1 | -1): void {
    this.#heldByAll += change;
    const held = (this.#held.get(keyId) ?? 0) + change;
    if (held === 0) this.#held.delete(keyId);
    else this.#held.set(keyId, held);
  }
}

function noRoom(message: string, hint: string, limit: number, current: number): Problem {
  return new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
    hint,
    details: { limit, current, available: 0 },
  });
}
