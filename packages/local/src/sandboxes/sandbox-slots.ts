import { Problem } from "@cloud-sandbox/server-kit";

/** The sandboxes that exist, of all keys or of one. Those being created or removed, and programs, hold a slot each instead. */
export interface SandboxCounts {
  /** Those that are not stopped. */
  readonly existing: (keyId?: string) => number;
  /** The sandboxes among them with the status `error`. */
  readonly failed: (keyId?: string) => number;
  /** The stopped sandboxes of one API key, or of the server's own key, undefined. */
  readonly stopped: (keyId: string | undefined) => number;
}

/**
 * Counts sandboxes, and programs that run without one, against the limit of both together, and against the limit of the API
 * key that they belong to. Sandboxes that have failed are no more than records, and do not count, unless there are more of them
 * than the limit: then the rest counts, because records need memory too. Stopped ones, which need only the disk, have a limit of
 * their own for each API key.
 */
export class SandboxSlots {
  readonly #held = new Map<string | undefined, number>();
  #heldByAll = 0;
  #onFreed: () => void = () => undefined;

  constructor(
    readonly limit: number,
    private readonly counts: SandboxCounts,
    private readonly limitOfKey: (keyId: string) => number | undefined = () => undefined,
    private readonly mostStopped = Number.POSITIVE_INFINITY,
  ) {}

  get hasFreeSlot(): boolean {
    return this.#taken(this.limit) < this.limit;
  }

  /** Whether the API key may have one more. The server's own key has no limit of its own. */
  hasCapacityFor(keyId: string | undefined): boolean {
    const limit = keyId === undefined ? undefined : this.limitOfKey(keyId);
    return keyId === undefined || limit === undefined || this.#taken(limit, keyId) < limit;
  }

  onFreed(listener: () => void): void {
    this.#onFreed = listener;
  }

  /** Throws a 429 problem if there is no room for one more of this API key. */
  requireSlot(keyId?: string): void {
    if (keyId !== undefined && !this.hasCapacityFor(keyId)) {
      const limit = this.limitOfKey(keyId) ?? 0;
      throw limitReached(
        `This API key may have at most ${limit} sandboxes and programs at a time.`,
        "Delete a sandbox first, or ask whoever runs the server for a key with a higher --max-sandboxes.",
        limit,
        this.#taken(limit, keyId),
      );
    }
    if (!this.hasFreeSlot)
      throw limitReached(
        `This server has at most ${this.limit} sandboxes and programs at a time.`,
        "Delete a sandbox first, or raise the limit with --max-sandboxes.",
        this.limit,
        this.#taken(this.limit),
      );
  }

  /** Throws a 429 problem if the API key may not have one more stopped sandbox. */
  requireStopSlot(keyId: string | undefined): void {
    const stopped = this.counts.stopped(keyId);
    if (stopped < this.mostStopped) return;
    throw limitReached(
      `An API key may have at most ${this.mostStopped} stopped sandboxes at a time.`,
      "Delete a stopped sandbox first, or raise the limit with --max-stopped.",
      this.mostStopped,
      stopped,
    );
  }

  /** Holds a slot for an API key, even if there is no room, until the returned function is called. */
  hold(keyId?: string): () => void {
    this.#add(keyId, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#add(keyId, -1);
      this.tellFreed();
    };
  }

  /** Call it when a sandbox has failed. */
  tellFreed(): void {
    this.#onFreed();
  }

  /** The slots that are taken, of all keys or of one, which has this limit. */
  #taken(limit: number, keyId?: string): number {
    const held = keyId === undefined ? this.#heldByAll : (this.#held.get(keyId) ?? 0);
    const taken = this.counts.existing(keyId) + held;
    // To count the failed ones takes longer: do so only if it matters.
    return taken < limit ? taken : taken - Math.min(this.counts.failed(keyId), limit);
  }

  #add(keyId: string | undefined, change: 1 | -1): void {
    this.#heldByAll += change;
    const held = (this.#held.get(keyId) ?? 0) + change;
    if (held === 0) this.#held.delete(keyId);
    else this.#held.set(keyId, held);
  }
}

function limitReached(message: string, hint: string, limit: number, current: number): Problem {
  return new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
    hint,
    details: { limit, current, available: 0 },
  });
}
