import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import type { MemoryBudget } from "./memory-budget.js";
import type { SandboxPlaces } from "./sandbox-places.js";

/**
 * The part of all places, and of all memory, that programs may take together. The rest is reserved for sandboxes, so that
 * sandboxes can be created while programs queue.
 */
const share = 3 / 4;

/** The place and the memory of one program. */
export interface TakenRoom {
  /** Frees place and memory for the sandbox that is created next, in which the program runs. They still count towards {@link share}. */
  handOver(): void;
  release(): void;
}

/** Decides whether there is room for one more program, beside the sandboxes and the other programs. */
export class ProgramRoom {
  #programs = 0;
  #memoryMb = 0;

  constructor(
    private readonly places: SandboxPlaces,
    private readonly budget: MemoryBudget,
  ) {}

  /** Calls the listener when room was freed. */
  onFreed(listener: () => void): void {
    this.places.onFreed(listener);
    this.budget.onFreed(listener);
  }

  /** Throws a 400 problem if a program with these limits will never find room. */
  requirePossible(limits: MachineLimits): void {
    this.budget.requirePossible(limits);
  }

  /** Takes room for a program with these limits. Undefined if the program has to wait. */
  take(limits: MachineLimits): TakenRoom | undefined {
    const needMb = this.budget.needMb(limits);
    if (!this.#isWithinShare(needMb) || !this.places.hasRoom) return undefined;
    const freeMemory = this.budget.take(limits);
    if (!freeMemory) return undefined;
    const leave = this.places.hold();
    this.#programs += 1;
    this.#memoryMb += needMb;
    const handOver = (): void => {
      leave();
      freeMemory();
    };
    let isTaken = true;
    return {
      handOver,
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#programs -= 1;
        this.#memoryMb -= needMb;
        handOver();
      },
    };
  }

  /** Whether one more program stays within {@link share}. A single program always does. */
  #isWithinShare(needMb: number): boolean {
    if (this.#programs === 0) return true;
    return (
      this.#programs + 1 <= share * this.places.limit &&
      this.#memoryMb + needMb <= share * this.budget.totalMb
    );
  }
}
