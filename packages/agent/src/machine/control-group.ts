import { readFile } from "node:fs/promises";

const root = "/sys/fs/cgroup";

/** Processor time used, in seconds; `undefined` where the control group cannot be seen. */
export async function groupCpuSeconds(): Promise<number | undefined> {
  const microseconds = await field(`${root}/cpu.stat`, "usage_usec");
  if (microseconds !== undefined) return microseconds / 1e6;
  const nanoseconds = await number(`${root}/cpuacct/cpuacct.usage`);
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}

/** Memory in use without what the kernel can drop at once, in bytes; `undefined` where it cannot be seen. */
export async function groupMemoryBytes(): Promise<number | undefined> {
  const [used, used1, cache, cache1] = await Promise.all([
    number(`${root}/memory.current`),
    number(`${root}/memory/memory.usage_in_bytes`),
    field(`${root}/memory.stat`, "inactive_file"),
    field(`${root}/memory/memory.stat`, "total_inactive_file"),
  ]);
  if (used !== undefined) return used - (cache ?? 0);
  return used1 === undefined ? undefined : used1 - (cache1 ?? 0);
}

/** The most memory it may use, in bytes; `undefined` where there is no limit to see. */
export async function groupMemoryLimit(): Promise<number | undefined> {
  return (await number(`${root}/memory.max`)) ?? number(`${root}/memory/memory.limit_in_bytes`);
}

async function number(path: string): Promise<number | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return /^\d+\s*$/.test(text) ? Number(text) : undefined;
}

async function field(path: string, name: string): Promise<number | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  const value = new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}
