import { readFile } from "node:fs/promises";

/**
 * Where the kernel counts the processes it killed for want of memory: in the control group when the sandbox can see
 * it, else on the whole machine. Each has a line `oom_kill <count>`.
 */
const sources = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", "/proc/vmstat"];

/** How often the kernel has killed for want of memory; 0 where it does not tell. */
export async function outOfMemoryKills(): Promise<number> {
  for (const source of sources) {
    const text = await readFile(source, "utf8").catch(() => "");
    const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
    if (count !== undefined) return Number(count);
  }
  return 0;
}
