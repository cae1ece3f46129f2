import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";

export type EventType = ControlPlaneSchemas["EventType"];

/** What an event says besides its type, time and sandbox, as in the contract. */
export type EventFacts = Omit<ControlPlaneSchemas["Event"], "id" | "type" | "at" | "sandbox_id">;

/** Something that happened. */
export interface NewEvent {
  readonly type: EventType;
  readonly at: Date;
  readonly sandboxId?: string | undefined;
  /** The API key that may see it. Undefined for the server's own key, which sees all. */
  readonly keyId?: string | undefined;
  readonly facts: EventFacts;
}

export interface KeptEvent extends NewEvent {
  /** Later events have greater numbers. */
  readonly sequence: number;
}

/** Which events a caller asks for. */
export interface EventView {
  /** The caller's API key. Undefined for the server's own key, which sees all. */
  readonly keyId: string | undefined;
  readonly sandboxId?: string | undefined;
  readonly types?: ReadonlySet<EventType> | undefined;
}

/** The events of a server. They are kept for {@link keptMs}, and the last {@link keptEvents} of each API key. */
export interface KeptEvents {
  /** Tells the numbers of this server's events from those of a server that kept nothing. */
  readonly epoch: string;
  /** The number of the last event. */
  readonly last: number;
  /** The next events after a number, at most `limit`. */
  after(sequence: number, view: EventView, limit: number): readonly KeptEvent[];
  /** The number up to which events that the caller may see are no longer kept. */
  goneUntil(keyId: string | undefined): number;
  /** Resolves when there may be another event, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
}

export const keptMs = 24 * 60 * 60_000;
export const keptEvents = 20_000;

/** Events in memory. */
export class MemoryEvents implements KeptEvents {
  readonly epoch = newEpoch();
  last = 0;
  readonly #changes = new Changes();
  #events: KeptEvent[] = [];
  readonly #gone = new Map<string | undefined, number>();

  constructor(private readonly now: () => number = Date.now) {}

  record(events: readonly NewEvent[]): void {
    for (const event of events) {
      this.last += 1;
      this.#events.push({ ...event, sequence: this.last });
      // Old events are dropped in batches, because that looks at all of them.
      if (this.last % 1000 === 0) this.#prune();
    }
    this.#changes.tell();
  }

  after(sequence: number, view: EventView, limit: number): readonly KeptEvent[] {
    const found: KeptEvent[] = [];
    for (
      let index = this.#firstAfter(sequence);
      index < this.#events.length && found.length < limit;
      index++
    ) {
      const event = this.#events[index];
      if (event && isSeen(event, view)) found.push(event);
    }
    return found;
  }

  goneUntil(keyId: string | undefined): number {
    return keyId === undefined ? Math.max(0, ...this.#gone.values()) : (this.#gone.get(keyId) ?? 0);
  }

  next(signal: AbortSignal): Promise<void> {
    return this.#changes.next(signal);
  }

  #firstAfter(sequence: number): number {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.sequence ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #prune(): void {
    const oldest = this.now() - keptMs;
    const counts = new Map<string | undefined, number>();
    const kept: KeptEvent[] = [];
    for (const event of this.#events.toReversed()) {
      const { keyId } = event;
      const count = (counts.get(keyId) ?? 0) + 1;
      counts.set(keyId, count);
      if (count <= keptEvents && event.at.getTime() >= oldest) kept.push(event);
      else this.#gone.set(keyId, Math.max(event.sequence, this.#gone.get(keyId) ?? 0));
    }
    this.#events = kept.reverse();
  }
}

function isSeen(event: KeptEvent, { keyId, sandboxId, types }: EventView): boolean {
  return (
    (keyId === undefined || event.keyId === keyId) &&
    (sandboxId === undefined || event.sandboxId === sandboxId) &&
    (types === undefined || types.has(event.type))
  );
}

export const newEpoch = (): string => globalThis.crypto.randomUUID().slice(0, 8);

/** Wakes all who wait for the next change. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  tell(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }
}
