import { Problem } from "@cloud-sandbox/server-kit";
import type { MachineLimits } from "../runtime/sandbox-runtime.js";
import type { ProgramRoom, TakenRoom } from "./program-room.js";

/** Most programs that wait for their turn. */
const mostWaiting = 1024;
/** Milliseconds after which the next program may start although this one still runs. */
const shortMs = 1000;
/** Milliseconds that programs wait while there is no room for the first of them. */
const roomLimitMs = 30_000;

export interface ProgramTurn {
  readonly room: TakenRoom;
  /** Lets the next program start. */
  leave(): void;
}

interface Waiting {
  readonly limits: MachineLimits;
  readonly start: (turn: ProgramTurn) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * Decides when a program is started. Starting a program is CPU work, and so are most programs: to start more at once would
 * only delay all of them, and the sandboxes. A program that runs longer than `shortMs` gives its turn to the next, but
 * keeps its memory and its place.
 */
export class ProgramQueue {
  readonly #waiting: Waiting[] = [];
  #started = 0;
  /** Runs while there is no room for the first program. */
  #patience: NodeJS.Timeout | undefined;

  constructor(
    /** How many programs are started at a time. */
    private readonly turns: number,
    private readonly room: ProgramRoom,
  ) {
    // Start the next program later, so that a sandbox to which a program handed its room over takes the room first.
    room.onFreed(() => queueMicrotask(() => this.#startNext()));
  }

  /**
   * Waits for a turn and for room. Throws a 429 problem when too many programs wait or when there was no room for
   * `roomLimitMs`, and a 400 problem when the program can never find room.
   */
  async enter(limits: MachineLimits, signal: AbortSignal): Promise<ProgramTurn> {
    signal.throwIfAborted();
    this.room.requirePossible(limits);
    if (this.#waiting.length >= mostWaiting)
      throw new Problem(429, "RESOURCE_LIMIT_ERROR", `${mostWaiting} programs wait to be run already.`, {
        hint: "Send the program again in a second, and fewer programs at a time.",
        headers: { "retry-after": "1" },
        details: { limit: mostWaiting, current: this.#waiting.length, available: 0 },
      });
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
        this.#startNext();
      };
      const waiting: Waiting = {
        limits,
        start: (turn) => {
          signal.removeEventListener("abort", giveUp);
          resolve(turn);
        },
        refuse: (reason) => {
          signal.removeEventListener("abort", giveUp);
          reject(reason);
        },
      };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#started < this.turns; next = this.#waiting[0]) {
      const room = this.room.take(next.limits);
      if (!room) {
        this.#patience ??= setTimeout(() => this.#refuseAll(), roomLimitMs).unref();
        return;
      }
      this.#waiting.shift();
      next.start(this.#turn(room));
    }
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  #turn(room: TakenRoom): ProgramTurn {
    this.#started += 1;
    let isOver = false;
    const leave = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      this.#started -= 1;
      this.#startNext();
    };
    const timer = setTimeout(leave, shortMs).unref();
    return { room, leave };
  }

  #refuseAll(): void {
    this.#patience = undefined;
    for (const { refuse } of this.#waiting.splice(0))
      refuse(
        new Problem(
          429,
          "RESOURCE_LIMIT_ERROR",
          `There has been no room for a program for ${roomLimitMs / 1000} s: sandboxes and other programs take all of it.`,
          {
            hint: "Send the program again later, or delete sandboxes. --max-sandboxes and --memory-overcommit set how much runs at a time.",
            headers: { "retry-after": "10" },
          },
        ),
      );
  }
}
