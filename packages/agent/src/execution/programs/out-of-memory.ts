import { readSystemFile } from "../../machine/system-file.js";

/**
 * Files in which the kernel counts the processes it killed because memory ran out: for the control group, where a
 * sandbox can see it, and for the whole machine. Each has a line `oom_kill <count>`.
 */
const sources = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", "/proc/vmstat"];

/** Milliseconds after which `recent` starts a new reading. */
const longestStale = 1000;

/** Counts how often the kernel has killed a process because memory ran out. */
export class OutOfMemoryCounter {
  #known = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  /**
   * The last count read, without waiting. If it is older than `longestStale`, a new reading starts for the next call.
   * It serves as the count before an execution, which need not be exact.
   */
  get recent(): number {
    if (performance.now() - this.#readAt > longestStale) void this.read();
    return this.#known;
  }

  async read(): Promise<number> {
    this.#readAt = performance.now();
    const texts = await Promise.all(sources.map(readSystemFile));
    this.#known = texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
    return this.#known;
  }
}
