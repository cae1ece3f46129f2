import type { Machine } from "../runtime/sandbox-runtime.js";

/** Long enough for what was just claimed to do its first work undisturbed, short beside a boot. */
const refillDelayMs = 50;
const firstRetryMs = 250;
const lastRetryMs = 30_000;

/** Keeps booted machines waiting for an owner, so that a sandbox is claimed instead of started. */
export class WarmPool {
  #waiting: Boot[] = [];
  #refill: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(
    private readonly size: number,
    private readonly boot: () => Promise<Machine>,
    private readonly onBootFailure: (error: unknown) => void,
  ) {}

  /** Machines that could be claimed without waiting. */
  get ready(): number {
    return this.#waiting.filter((boot) => boot.isReady).length;
  }

  /** A machine that is waiting, or else one that is booting already, or else a new one. Its caller owns it. */
  async claim(): Promise<Machine> {
    for (;;) {
      const boot = this.#waiting.find(({ isReady }) => isReady) ?? this.#waiting[0];
      this.#waiting = this.#waiting.filter((candidate) => candidate !== boot);
      this.#fillLater(refillDelayMs);
      const machine = await (boot?.machine ?? this.boot());
      if (boot?.hasEnded !== true) return machine;
    }
  }

  /** Boots machines until as many wait as there should. */
  fill(): void {
    while (!this.#isClosed && this.#waiting.length < this.size) this.#waiting.push(this.#startBoot());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refill);
    const waiting = this.#waiting;
    this.#waiting = [];
    await Promise.allSettled(waiting.map(async ({ machine }) => (await machine).destroy()));
  }

  #startBoot(): Boot {
    const machine = this.boot();
    const boot: Boot = { machine, isReady: false, hasEnded: false };
    const drop = (): void => {
      boot.hasEnded = true;
      this.#waiting = this.#waiting.filter((candidate) => candidate !== boot);
    };
    machine.then(
      ({ exited }) => {
        boot.isReady = true;
        this.#failures = 0;
        void exited.then(() => {
          const wasWaiting = this.#waiting.includes(boot);
          drop();
          if (wasWaiting) this.#fillLater(refillDelayMs);
        });
      },
      (error: unknown) => {
        drop();
        this.onBootFailure(error);
        this.#failures += 1;
        this.#fillLater(Math.min(firstRetryMs * 2 ** this.#failures, lastRetryMs));
      },
    );
    return boot;
  }

  #fillLater(delayMs: number): void {
    if (this.size === 0 || this.#isClosed) return;
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      this.fill();
    }, delayMs).unref();
  }
}

interface Boot {
  readonly machine: Promise<Machine>;
  isReady: boolean;
  hasEnded: boolean;
}
