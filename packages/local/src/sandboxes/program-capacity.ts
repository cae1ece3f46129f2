import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import type { MemoryBudget } from "./memory-budget.js";
import type { SandboxSlots } from "./sandbox-slots.js";

/**
 * The part of all slots, and of all memory, that programs may take together. The rest is reserved for sandboxes, so that
 * sandboxes can be created while programs queue.
 */
const share = 3 / 4;
/** The part of {@link share} that the programs of one API key may take together, where there are several keys. */
const shareOfKey = 3 / 4;

/** The slot and the memory of one program. */
export interface TakenCapacity {
  /**
   * Frees the slot and the memory for the sandbox that is created next, in which the program runs. They still count towards {@link share},
   * and no waiting program is told of them, so that none takes them before the sandbox does.
   */
  transfer(): void;
  release(): void;
}

/** Decides whether there is room for one more program, beside the sandboxes and the other programs. */
export class ProgramCapacity {
  readonly #all: Taken = { programs: 0, memoryMb: 0 };
  readonly #byKey = new Map<string | undefined, Taken>();
  #onFreed: () => void = () => undefined;
  #isTransferring = false;

  constructor(
    private readonly slots: SandboxSlots,
    private readonly budget: MemoryBudget,
    /** Whether several API keys use the server. */
    private readonly isShared: () => boolean = () => false,
  ) {}

  /** Calls the listener when room was freed, unless it was transferred. */
  onFreed(listener: () => void): void {
    this.#onFreed = () => {
      if (!this.#isTransferring) listener();
    };
    this.slots.onFreed(this.#onFreed);
    this.budget.onFreed(this.#onFreed);
  }

  /** Throws a 400 problem if a program with these limits will never find room. */
  requirePossible(limits: MachineLimits): void {
    this.budget.requirePossible(limits);
  }

  /** Whether the API key may have one more program with these limits, beside its own sandboxes and programs. */
  hasCapacityFor(keyId: string | undefined, limits: MachineLimits): boolean {
    if (!this.slots.hasCapacityFor(keyId)) return false;
    if (!this.isShared()) return true;
    return this.#isWithin(share * shareOfKey, this.#takenBy(keyId), this.budget.needMb(limits));
  }

  /** Takes room for a program with these limits. Undefined if the program has to wait. */
  take(limits: MachineLimits, keyId?: string): TakenCapacity | undefined {
    const needMb = this.budget.needMb(limits);
    if (!this.#isWithin(share, this.#all, needMb) || !this.slots.hasFreeSlot) return undefined;
    const freeMemory = this.budget.take(limits);
    if (!freeMemory) return undefined;
    const leave = this.slots.hold(keyId);
    this.#count(keyId, 1, needMb);
    let isTaken = true;
    return {
      transfer: () => {
        this.#isTransferring = true;
        leave();
        freeMemory();
        this.#isTransferring = false;
      },
      release: () => {
        if (!isTaken) return;
        isTaken = false;
        this.#count(keyId, -1, -needMb);
        leave();
        freeMemory();
        // What was transferred is not freed here, but there is room within `share` again.
        this.#onFreed();
      },
    };
  }

  /** Whether one more program stays within a part of all slots and memory. A single program always does. */
  #isWithin(part: number, { programs, memoryMb }: Taken, needMb: number): boolean {
    if (programs === 0) return true;
    return programs + 1 <= part * this.slots.limit && memoryMb + needMb <= part * this.budget.totalMb;
  }

  #takenBy(keyId: string | undefined): Taken {
    return this.#byKey.get(keyId) ?? { programs: 0, memoryMb: 0 };
  }

  #count(keyId: string | undefined, programs: number, memoryMb: number): void {
    const own = this.#takenBy(keyId);
    for (const taken of [this.#all, own]) {
      taken.programs += programs;
      taken.memoryMb += memoryMb;
    }
    if (own.programs === 0) this.#byKey.delete(keyId);
    else this.#byKey.set(keyId, own);
  }
}

/** The number of programs, and their memory. */
interface Taken {
  programs: number;
  memoryMb: number;
}
