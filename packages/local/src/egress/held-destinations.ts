import { authorityOf, type Destination, EgressProblem } from "./destination.js";

/** Milliseconds that a program is kept waiting for a decision, and destinations of one sandbox that may wait at a time. */
const heldMs = 60_000;
const mostHeld = 32;

interface Held {
  readonly destination: Destination;
  readonly decided: Promise<Decision>;
  readonly decide: (decision: Decision) => void;
}

type Decision = "allowed" | "refused" | "nobody";

/** The destinations that programs of one sandbox wait for, because no rule names them. */
export class HeldDestinations {
  readonly #held = new Map<string, Held>();

  /** Calls `onHeld` with each destination that begins to wait. */
  constructor(private readonly onHeld: (destination: Destination) => void) {}

  /** Resolves when the destination is allowed. Rejects with an EgressProblem if it is refused, or if nobody decides in time. */
  async wait(destination: Destination, signal: AbortSignal): Promise<void> {
    const name = authorityOf(destination);
    const held = this.#held.get(name) ?? this.#hold(name, destination);
    const left = new Promise<never>((_, reject) => {
      const leave = (): void => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      void held.decided.then(() => signal.removeEventListener("abort", leave));
      if (signal.aborted) leave();
    });
    left.catch(() => undefined);
    const decision = await Promise.race([held.decided, left]);
    if (decision === "refused") throw refused(`${name} was refused when somebody was asked.`);
    if (decision === "nobody")
      throw refused(`${name} is on no list of this sandbox, and nobody decided within ${heldMs / 1000} s.`);
  }

  /** Answers all who wait for a destination. False if nobody does. */
  decide(destination: Destination, isAllowed: boolean): boolean {
    const held = this.#held.get(authorityOf(destination));
    held?.decide(isAllowed ? "allowed" : "refused");
    return held !== undefined;
  }

  /** Lets go on who waits for what need not be asked any more. */
  release(isAsked: (destination: Destination) => boolean): void {
    for (const { destination, decide } of this.#held.values()) if (!isAsked(destination)) decide("allowed");
  }

  #hold(name: string, destination: Destination): Held {
    if (this.#held.size >= mostHeld)
      throw refused(`${name} is on no list of this sandbox, and ${mostHeld} others wait for a decision.`);
    let decide: Held["decide"] = () => undefined;
    const decided = new Promise<Decision>((resolve) => {
      decide = resolve;
    });
    const timer = setTimeout(() => decide("nobody"), heldMs).unref();
    void decided.then(() => {
      clearTimeout(timer);
      this.#held.delete(name);
    });
    const held = { destination, decided, decide };
    this.#held.set(name, held);
    this.onHeld(destination);
    return held;
  }
}

const refused = (message: string): EgressProblem => new EgressProblem("refused", message);
