import { availableParallelism } from "node:os";
import type { MachineLimits } from "./runtime/sandbox-runtime.js";
import { hostMemoryMb } from "./sandboxes/memory-budget.js";

export const defaultHost = "127.0.0.1";

export const defaultRateLimit = 1_000_000;

/** Seconds after which a sandbox that sleeps is deleted: a week. */
export const defaultKeepStoppedSeconds = 7 * 24 * 60 * 60;

/** The stopped sandboxes that an API key may have. */
export const defaultMaxStopped = 100;

/** The snapshots that an API key may have. */
export const defaultMaxSnapshots = 100;

/** The default limit of sandboxes, by the host's memory. An idle sandbox takes about 10 MiB. */
export function defaultMaxSandboxes(): number {
  return Math.min(256, Math.max(16, Math.floor(hostMemoryMb() / 32)));
}

/** The limits of each sandbox: `own`, and defaults in place of what is missing there. */
export function machineLimits(own: Partial<MachineLimits> | undefined): MachineLimits {
  const vcpu = Math.min(2, availableParallelism());
  return { memoryMb: 1024, diskMb: 1024, vcpu, maxProcesses: 256, ...own };
}
