import { Problem } from "@cloud-sandbox/server-kit";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import type { MemoryBudget } from "./memory-budget.js";
import type { SandboxSlots } from "./sandbox-slots.js";

/** Most programs of one API key that wait to be started. */
const mostWaiting = 1024;
/** Milliseconds after which the next program may start although this one still runs. */
const shortMs = 1000;
/** Milliseconds that the programs of an API key wait while there is no room for the first of them. */
const longestWaitMs = 30_000;

export interface Admission {
  readonly capacity: TakenCapacity;
  /** Lets the next program start. */
  leave(): void;
}

interface Waiting {
  readonly limits: MachineLimits;
  readonly start: (admission: Admission) => void;
  readonly refuse: (reason: unknown) => void;
}

/** The programs of one API key that wait. */
interface Line {
  readonly waiting: Waiting[];
  /** Runs while there is no room for the first program. */
  refusalTimer: NodeJS.Timeout | undefined;
}

function stopRefusalTimer(line: Line): void {
  clearTimeout(line.refusalTimer);
  line.refusalTimer = undefined;
}

/**
 * Decides when a program is started. Starting a program is CPU work, and so are most programs: to start more at once would
 * only delay all of them, and the sandboxes. A program that runs longer than `shortMs` lets the next one start, but
 * keeps its memory and its slot.
 *
 * Each API key has a line of its own, and the keys are served one after the other, so that many programs of one key do not delay those of
 * another. A key none of whose programs is being started need not wait for those of other keys, up to twice as many in all.
 */
export class ProgramQueue {
  /** The lines that are not empty, by API key. The key whose program starts next is the first. */
  readonly #lines = new Map<string | undefined, Line>();
  /** The API keys of the programs that are being started. */
  readonly #started: (string | undefined)[] = [];

  constructor(
    /** How many programs are started at a time. */
    private readonly concurrency: number,
    private readonly capacity: ProgramCapacity,
  ) {
    // Start the next program later: whoever frees room may be about to start one itself.
    capacity.onFreed(() => queueMicrotask(() => this.#startNext()));
  }

  /** The number of programs that wait. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#lines.values()) count += waiting.length;
    return count;
  }

  /**
   * Waits until the program may start. Throws a 429 problem when too many programs of the API key wait or when there was no
   * room for `longestWaitMs`, and a 400 problem when there can never be room for it.
   */
  async enter(limits: MachineLimits, signal: AbortSignal, keyId?: string): Promise<Admission> {
    signal.throwIfAborted();
    this.capacity.requirePossible(limits);
    const line = this.#lines.get(keyId) ?? { waiting: [], refusalTimer: undefined };
    if (line.waiting.length >= mostWaiting)
      throw new Problem(429, "RESOURCE_LIMIT_ERROR", `${mostWaiting} programs wait to be run already.`, {
        hint: "Send the program again in a second, and fewer programs at a time.",
        headers: { "retry-after": "1" },
        details: { limit: mostWaiting, current: line.waiting.length, available: 0 },
      });
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1);
        if (line.waiting.length === 0) this.#remove(keyId, line);
        reject(signal.reason);
        this.#startNext();
      };
      const waiting: Waiting = {
        limits,
        start: (admission) => {
          signal.removeEventListener("abort", giveUp);
          resolve(admission);
        },
        refuse: (reason) => {
          signal.removeEventListener("abort", giveUp);
          reject(reason);
        },
      };
      line.waiting.push(waiting);
      this.#lines.set(keyId, line);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#startNext();
    });
  }

  #startNext(): void {
    let isFull = false;
    while (!isFull) {
      const next = [...this.#lines].find(
        (entry) => this.#mayStart(entry[0]) && this.#isWithinKeyLimits(...entry),
      );
      if (!next) break;
      const [keyId, line] = next;
      const [first] = line.waiting;
      const capacity = first && this.capacity.take(first.limits, keyId);
      if (capacity) {
        line.waiting.shift();
        // The key's next program starts after those of the other keys.
        this.#remove(keyId, line);
        if (line.waiting.length > 0) this.#lines.set(keyId, line);
        first.start(this.#admit(capacity, keyId));
      } else isFull = true;
    }
    for (const [keyId, line] of this.#lines) {
      if (isFull || !this.#isWithinKeyLimits(keyId, line))
        line.refusalTimer ??= setTimeout(() => this.#refuseAll(keyId, line), longestWaitMs).unref();
      else stopRefusalTimer(line);
    }
  }

  #mayStart(keyId: string | undefined): boolean {
    const { length } = this.#started;
    return length < this.concurrency || (length < 2 * this.concurrency && !this.#started.includes(keyId));
  }

  /** Whether the limits of the API key leave room for the first program of its line. */
  #isWithinKeyLimits(keyId: string | undefined, { waiting: [first] }: Line): boolean {
    return first !== undefined && this.capacity.hasCapacityFor(keyId, first.limits);
  }

  #remove(keyId: string | undefined, line: Line): void {
    stopRefusalTimer(line);
    this.#lines.delete(keyId);
  }

  #admit(capacity: TakenCapacity, keyId: string | undefined): Admission {
    this.#started.push(keyId);
    let isOver = false;
    const leave = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      this.#started.splice(this.#started.indexOf(keyId), 1);
      this.#startNext();
    };
    const timer = setTimeout(leave, shortMs).unref();
    return { capacity, leave };
  }

  #refuseAll(keyId: string | undefined, line: Line): void {
    this.#remove(keyId, line);
    for (const { refuse } of line.waiting.splice(0))
      refuse(
        new Problem(
          429,
          "RESOURCE_LIMIT_ERROR",
          `There has been no room for a program for ${longestWaitMs / 1000} s: sandboxes and other programs take all of it.`,
          {
            hint: "Send the program again later, or delete sandboxes. --max-sandboxes and --memory-overcommit set how much runs at a time.",
            headers: { "retry-after": "10" },
          },
        ),
      );
  }
}

/**
 * The part of all slots, and of all memory, that programs may take together. The rest is reserved for sandboxes, so that
 * sandboxes can be created while programs queue.
 */
const share = 3 / 4;
/** The part of {@link share} that the programs of one API key may take together, where there are several keys. */
const shareOfKey = 3 / 4;

/** The slot and the memory of one program. */
interface TakenCapacity {
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
