import { readSystemFile } from "../../machine/system-file.js";

/**
 * Where the kernel counts the processes it killed for want of memory: in the control group, where a sandbox can see
 * it, and on the whole machine. Each has a line `oom_kill <count>`.
 */
const sources = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", "/proc/vmstat"];

/** Milliseconds. */
const longestStale = 1000;

/** How often the kernel has killed for want of memory. */
export class OutOfMemoryCounter {
  #known = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  /** The count as it was a short while ago, at once: what it is compared with later need not be exact. */
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
