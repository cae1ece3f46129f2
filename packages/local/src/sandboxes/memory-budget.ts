import { totalmem } from "node:os";
import { Problem } from "@cloud-sandbox/server-kit";
import { type MachineLimits, mostMemoryMb } from "../runtime/sandbox-runtime.js";

/** How much of what they may use sandboxes are taken to use at a time: a quarter. */
export const defaultMemoryOvercommit = 4;

export interface MemoryBudgetOptions {
  /** What all machines may use together, in multiples of this host's memory. */
  readonly overcommit: number;
  /** As a runtime reports it: how often the size of its disk a machine may fill. */
  readonly disks: number;
}

/** Admits machines by what they may use, memory and files, so that a host is not promised away many times over. */
export class MemoryBudget {
  readonly totalMb: number;
  #usedMb = 0;
  #yieldSpare: () => Promise<void> | undefined = () => undefined;

  constructor(private readonly options: MemoryBudgetOptions) {
    this.totalMb = Math.floor(hostMemoryMb() * options.overcommit);
  }

  /** Where room is made when there is none: ends a machine that nobody owns yet, or returns undefined. */
  onShortage(yieldSpare: () => Promise<void> | undefined): void {
    this.#yieldSpare = yieldSpare;
  }

  hasRoom(limits: MachineLimits): boolean {
    return this.#usedMb + this.#needMb(limits) <= this.totalMb;
  }

  /** Reserves what a machine may use, until what it resolves with is called. Rejects with the problem that says what to do. */
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
    const sum = `A sandbox like this may use ${needMb} MiB, its memory and its files together`;
    const option = `start the server with a larger --memory-overcommit (now ${overcommit})`;
    if (needMb > totalMb)
      return new Problem(
        400,
        "LIMITS_UNAVAILABLE",
        `${sum}, and all sandboxes of this machine ${totalMb} MiB. Ask for less in limits, or ${option}.`,
      );
    const available = totalMb - this.#usedMb;
    return new Problem(
      429,
      "RESOURCE_LIMIT_ERROR",
      `${sum}, and of the ${totalMb} MiB that all sandboxes of this machine may use ${available} MiB are left. Delete or stop one first, ask for less in limits, or ${option}.`,
      { details: { limit: totalMb, current: this.#usedMb, available } },
    );
  }
}

/** What this process may use of the host's memory. */
export function hostMemoryMb(): number {
  return Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20);
}
