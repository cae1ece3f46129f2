import { setTimeout as sleep } from "node:timers/promises";
import type { Machine } from "../runtime/sandbox-runtime.js";

/** Milliseconds between a claim and the next boot, so that the claimed machine gets the CPU for its first request. */
const refillDelayMs = 50;
const firstRetryMs = 250;
const lastRetryMs = 30_000;

export interface WarmPoolOptions {
  /** The number of machines to keep waiting. */
  readonly size: number;
  readonly boot: () => Promise<Machine>;
  /** Called with each machine that begins to wait. It may be claimed meanwhile. */
  readonly onWaiting?: ((machine: Machine) => Promise<void>) | undefined;
  /** A string that changes with the host's packages. Machines that booted before a change are replaced, because they see the old packages. */
  readonly packages: () => string;
  /** Whether there is memory for one more waiting machine. Call {@link WarmPool.fill} when memory becomes free. */
  readonly hasRoom: () => boolean;
  /** Runs background work when no caller needs the CPU. */
  readonly whenIdle: (work: () => Promise<void>) => Promise<void>;
  readonly onBootFailure: (error: unknown) => void;
}

/** Keeps booted machines waiting for an owner, so that a sandbox is claimed instead of started. */
export class WarmPool {
  readonly #closing = new AbortController();
  readonly #waiting: Machine[] = [];
  readonly #packages = new WeakMap<Machine, string>();
  #booting: Promise<Machine> | undefined;
  #refill: Promise<void> | undefined;
  #failures = 0;
  #size: number;

  constructor(private readonly options: WarmPoolOptions) {
    this.#size = options.size;
  }

  /** The number of machines that can be claimed at once. */
  get ready(): number {
    return this.#waiting.length;
  }

  /** A waiting machine, else the one that is booting, else a new one. The caller owns it. */
  async claim(): Promise<Machine> {
    const packages = this.#waiting.length === 0 ? "" : this.options.packages();
    const outdated: Promise<void>[] = [];
    for (let waiting = this.#waiting.shift(); waiting; waiting = this.#waiting.shift()) {
      this.#refillAfter(refillDelayMs);
      if (this.#packages.get(waiting) === packages) return waiting;
      // What one leaves on the host is no reason to refuse a sandbox. The next server removes it.
      outdated.push(waiting.destroy().catch(() => undefined));
    }
    await Promise.all(outdated);
    const machine = this.#booting ?? this.options.boot();
    this.#booting = undefined;
    this.#refillAfter(refillDelayMs);
    return machine;
  }

  /** Boots machines, one after another, until the pool is full. */
  fill(): void {
    this.#refillAfter(0);
  }

  /** Changes the pool's size. Resolves when surplus machines are destroyed. */
  async resize(size: number): Promise<void> {
    this.#size = size;
    this.fill();
    await Promise.all(this.#waiting.splice(size).map((machine) => machine.destroy()));
  }

  /** Destroys one machine to free its memory. Resolves when it has ended; returns undefined if the pool has no machine. */
  yieldOne(): Promise<void> | undefined {
    const waiting = this.#waiting.pop();
    if (waiting) return waiting.destroy();
    const booting = this.#booting;
    this.#booting = undefined;
    return booting?.then(
      (machine) => machine.destroy(),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const booting = this.#booting;
    this.#booting = undefined;
    await this.resize(0);
    await booting?.then(
      (machine) => machine.destroy(),
      () => undefined,
    );
  }

  get #isShort(): boolean {
    return !this.#closing.signal.aborted && this.#waiting.length < this.#size && this.options.hasRoom();
  }

  #refillAfter(delayMs: number): void {
    if (!this.#isShort) return;
    this.#refill ??= this.#fillUp(delayMs).finally(() => {
      this.#refill = undefined;
    });
  }

  async #fillUp(delayMs: number): Promise<void> {
    await this.#sleep(delayMs);
    while (this.#isShort) {
      await this.options.whenIdle(() => this.#bootSpare());
      if (this.#failures > 0) await this.#sleep(Math.min(firstRetryMs * 2 ** this.#failures, lastRetryMs));
    }
  }

  async #bootSpare(): Promise<void> {
    if (!this.#isShort) return;
    const packages = this.options.packages();
    const booting = this.options.boot();
    this.#booting = booting;
    const machine = await booting.catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#failures += 1;
      this.options.onBootFailure(error);
    });
    // The machine was claimed or given up while it booted, or the pool was closed: it no longer belongs to the pool.
    if (this.#booting !== booting) return;
    this.#booting = undefined;
    if (!machine) return;
    this.#failures = 0;
    this.#packages.set(machine, packages);
    this.#waiting.push(machine);
    void machine.exited.then(() => {
      const index = this.#waiting.indexOf(machine);
      if (index === -1) return;
      this.#waiting.splice(index, 1);
      this.#refillAfter(refillDelayMs);
    });
    await this.options.onWaiting?.(machine);
  }

  async #sleep(delayMs: number): Promise<void> {
    const { signal } = this.#closing;
    await sleep(delayMs, undefined, { ref: false, signal }).catch(() => undefined);
  }
}
