import { totalmem } from "node:os";
import { Problem } from "@cloud-sandbox/server-kit";
import { type MachineLimits, mostMemoryMb } from "../runtime/sandbox-runtime.js";

/**
 * Default for how many times the host's memory may be promised. Sandboxes are expected to use a quarter of their
 * limits.
 */
export const defaultMemoryOvercommit = 4;

export interface MemoryBudgetOptions {
  /** All machines together may use this many times the host's memory. */
  readonly overcommit: number;
  /**
   * How many times its `diskMb` a machine may fill with files: 2 with a read-only root, which has two tmpfs of that
   * size, else 1. Reported by the runtime.
   */
  readonly disks: number;
}

/** Admits machines by the memory they may use, their files included, so that the host's memory is not promised too often. */
export class MemoryBudget {
  readonly totalMb: number;
  #usedMb = 0;
  #yieldSpare: () => Promise<void> | undefined = () => undefined;

  constructor(private readonly options: MemoryBudgetOptions) {
    this.totalMb = Math.floor(hostMemoryMb() * options.overcommit);
  }

  /** Sets what to do when memory is short. `yieldSpare` ends a machine that nobody owns; it returns undefined if there is none. */
  onShortage(yieldSpare: () => Promise<void> | undefined): void {
    this.#yieldSpare = yieldSpare;
  }

  hasRoom(limits: MachineLimits): boolean {
    return this.#usedMb + this.#needMb(limits) <= this.totalMb;
  }

  /** Reserves the memory a machine may use, until the returned function is called. Throws a 400 or 429 problem if there is not enough. */
  async reserve(limits: MachineLimits): Promise<() => void> {
    const needMb = this.#needMb(limits);
    while (!this.hasRoom(limits)) {
      const yielding = this.#yieldSpare();
      if (yielding === undefined) throw this.#refusal(needMb);
      await yielding;
    }
    this.#usedMb += needMb;
    let isReserved = true;
    return () => {
      if (isReserved) this.#usedMb -= needMb;
      isReserved = false;
    };
  }

  #needMb(limits: MachineLimits): number {
    return mostMemoryMb(limits, this.options.disks);
  }

  #refusal(needMb: number): Problem {
    const { totalMb } = this;
    const { overcommit } = this.options;
    const need = `This sandbox may use ${needMb} MiB for its memory and its files`;
    const option = `start the server with a larger --memory-overcommit (now ${overcommit})`;
    if (needMb > totalMb)
      return new Problem(
        400,
        "LIMITS_UNAVAILABLE",
        `${need}, but all sandboxes of this machine together may use only ${totalMb} MiB.`,
        { hint: `Ask for less in limits, or ${option}.` },
      );
    const available = totalMb - this.#usedMb;
    return new Problem(
      429,
      "RESOURCE_LIMIT_ERROR",
      `${need}, but only ${available} MiB are left of the ${totalMb} MiB that all sandboxes of this machine together may use.`,
      {
        hint: `Delete or stop a sandbox first, ask for less in limits, or ${option}.`,
        details: { limit: totalMb, current: this.#usedMb, available },
      },
    );
  }
}

/** The host's memory, or the part of it that this process is limited to. */
export function hostMemoryMb(): number {
  return Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20);
}
