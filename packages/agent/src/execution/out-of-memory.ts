import { readFile } from "node:fs/promises";

/**
 * Where the kernel counts the processes it killed for want of memory: in the control group, where a sandbox can see
 * it, and on the whole machine. Each has a line `oom_kill <count>`.
 */
const sources = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", "/proc/vmstat"];

/** A number that grows whenever the kernel kills for want of memory. */
export async function outOfMemoryKills(): Promise<number> {
  const texts = await Promise.all(sources.map((source) => readFile(source, "utf8").catch(() => "")));
  return texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
}
