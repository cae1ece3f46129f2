import { Problem } from "@cloud-sandbox/server-kit";

/** Counts sandboxes, and programs that run without one, against the limit of both together. */
export class SandboxPlaces {
  #held = 0;
  #onFreed: () => void = () => undefined;

  constructor(
    readonly limit: number,
    /** The number of sandboxes that exist. Those being created or removed, and programs, hold a place each instead. */
    private readonly existing: () => number,
  ) {}

  get hasRoom(): boolean {
    return this.#taken < this.limit;
  }

  onFreed(listener: () => void): void {
    this.#onFreed = listener;
  }

  /** Throws a 429 problem if there is no room. */
  requireRoom(): void {
    if (this.hasRoom) return;
    const message = `This machine holds at most ${this.limit} sandboxes at a time.`;
    throw new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
      hint: "Delete a sandbox first, or raise the limit with --max-sandboxes.",
      details: { limit: this.limit, current: this.#taken, available: 0 },
    });
  }

  /** Holds a place, even if there is no room, until the returned function is called. */
  hold(): () => void {
    this.#held += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= 1;
      this.#onFreed();
    };
  }

  get #taken(): number {
    return this.existing() + this.#held;
  }
}
