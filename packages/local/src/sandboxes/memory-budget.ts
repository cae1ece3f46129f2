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

/** Admits machines by the memory they may use, files included, so that all together stay within `overcommit` times the host's memory. */
export class MemoryBudget {
  readonly totalMb: number;
  #usedMb = 0;
  #yieldSpare: () => Promise<void> | undefined = () => undefined;
  #yielding: Promise<void> | undefined;
  #onFreed: () => void = () => undefined;

  constructor(private readonly options: MemoryBudgetOptions) {
    this.totalMb = Math.floor(hostMemoryMb() * options.overcommit);
  }

  /** Sets what to do when memory is short. `yieldSpare` ends a warm machine, which has no owner; it returns undefined if there is none. */
  onShortage(yieldSpare: () => Promise<void> | undefined): void {
    this.#yieldSpare = yieldSpare;
  }

  onFreed(listener: () => void): void {
    this.#onFreed = listener;
  }

  hasRoom(limits: MachineLimits): boolean {
    return this.#usedMb + this.needMb(limits) <= this.totalMb;
  }

  /** MiB that a machine may use, with its files. */
  needMb(limits: MachineLimits): number {
    return mostMemoryMb(limits, this.options.disks);
  }

  /** Throws a 400 problem if a machine with these limits never fits. */
  requirePossible(limits: MachineLimits): void {
    const needMb = this.needMb(limits);
    if (needMb > this.totalMb) throw this.#refusal(needMb);
  }

  /** Reserves the memory a machine may use, until the returned function is called. Throws a 400 or 429 problem if there is not enough. */
  async reserve(limits: MachineLimits): Promise<() => void> {
    while (!this.hasRoom(limits)) {
      const yielding = this.#yieldOne();
      if (yielding === undefined) throw this.#refusal(this.needMb(limits));
      await yielding;
    }
    return this.#reserved(limits);
  }

  /** Like {@link reserve}, but without waiting: undefined if there is not enough. A warm machine without an owner is then ended. */
  take(limits: MachineLimits): (() => void) | undefined {
    if (this.hasRoom(limits)) return this.#reserved(limits);
    // A machine that does not end keeps its memory reserved.
    this.#yieldOne()?.catch(() => undefined);
    return undefined;
  }

  /** Ends one warm machine at a time: others may find room where it was. Undefined if there is none. */
  #yieldOne(): Promise<void> | undefined {
    this.#yielding ??= this.#yieldSpare()?.finally(() => {
      this.#yielding = undefined;
      this.#onFreed();
    });
    return this.#yielding;
  }

  #reserved(limits: MachineLimits): () => void {
    const needMb = this.needMb(limits);
    this.#usedMb += needMb;
    let isReserved = true;
    return () => {
      if (!isReserved) return;
      isReserved = false;
      this.#usedMb -= needMb;
      this.#onFreed();
    };
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
