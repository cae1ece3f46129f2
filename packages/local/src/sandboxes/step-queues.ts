import pLimit, { type LimitFunction } from "p-limit";
import type { SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

interface StepQueue {
  readonly limit: LimitFunction;
  /** Aborts when the sandbox ends. */
  readonly ended: AbortController;
}

/** Does one step at a time for each sandbox. */
export class StepQueues {
  readonly #queues = new WeakMap<SandboxRecord, StepQueue>();

  constructor(private readonly registry: Pick<SandboxRegistry, "get">) {}

  /** Does a step after those that were asked for earlier. Throws the problem of a sandbox that has ended, also meanwhile. */
  run<Result>(sandbox: SandboxRecord, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { limit, ended } = this.of(sandbox);
    return limit(async () => {
      this.registry.get(sandbox.id);
      return work(ended.signal).catch((error: unknown) => {
        this.registry.get(sandbox.id);
        throw error;
      });
    });
  }

  of(sandbox: SandboxRecord): StepQueue {
    const known = this.#queues.get(sandbox);
    if (known) return known;
    const queue = { limit: pLimit(1), ended: new AbortController() };
    this.#queues.set(sandbox, queue);
    return queue;
  }
}
