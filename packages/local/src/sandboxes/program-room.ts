import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import type { MemoryBudget } from "./memory-budget.js";
import type { SandboxPlaces } from "./sandbox-places.js";

/**
 * The part of all places, and of all memory, that programs may take together. The rest stays for sandboxes, so that they can be
 * created while programs queue.
 */
const share = 3 / 4;

/** The place and the memory of one program. */
export interface TakenRoom {
  /** Gives place and memory to the sandbox that is created next, for the program. They still count as the program's. */
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

  /** Calls the listener when a program may find room that did not find it before. */
  onFreed(listener: () => void): void {
    this.places.onFreed(listener);
    this.budget.onFreed(listener);
  }

  /** Throws a 400 problem if a program with these limits will never find room. */
  requirePossible(limits: MachineLimits): void {
    this.budget.requirePossible(limits);
  }

  /** Undefined if the program has to wait. */
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

  /** One program at a time is always within it. */
  #isWithinShare(needMb: number): boolean {
    if (this.#programs === 0) return true;
    return (
      this.#programs + 1 <= share * this.places.limit &&
      this.#memoryMb + needMb <= share * this.budget.totalMb
    );
  }
}
