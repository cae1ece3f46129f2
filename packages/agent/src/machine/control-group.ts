import { readSystemFile } from "./system-file.js";

const root = "/sys/fs/cgroup";

/** Processor time used, in seconds; `undefined` where the control group cannot be seen. */
export async function groupCpuSeconds(): Promise<number | undefined> {
  const microseconds = await field(`${root}/cpu.stat`, "usage_usec");
  if (microseconds !== undefined) return microseconds / 1e6;
  const nanoseconds = await number(`${root}/cpuacct/cpuacct.usage`);
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}

/** How many processors' worth of time it may use; `undefined` where there is no limit to see. */
export async function groupCpuLimit(): Promise<number | undefined> {
  const [quota, period] = (await readSystemFile(`${root}/cpu.max`)).split(" ").map(Number);
  const [quota1, period1] = await Promise.all([
    number(`${root}/cpu/cpu.cfs_quota_us`),
    number(`${root}/cpu/cpu.cfs_period_us`),
  ]);
  return ratio(quota, period) ?? ratio(quota1, period1);
}

/** Memory that its processes use, in bytes, without files, which tmpfs keeps in memory too. */
export async function groupMemoryBytes(): Promise<number | undefined> {
  const [used, used1, files, files1] = await Promise.all([
    number(`${root}/memory.current`),
    number(`${root}/memory/memory.usage_in_bytes`),
    field(`${root}/memory.stat`, "file"),
    field(`${root}/memory/memory.stat`, "total_cache"),
  ]);
  if (used !== undefined) return Math.max(0, used - (files ?? 0));
  return used1 === undefined ? undefined : Math.max(0, used1 - (files1 ?? 0));
}

/** The most memory it may use, in bytes; `undefined` where there is no limit to see. */
export async function groupMemoryLimit(): Promise<number | undefined> {
  return (await number(`${root}/memory.max`)) ?? number(`${root}/memory/memory.limit_in_bytes`);
}

const ratio = (part = Number.NaN, whole = Number.NaN) => (part > 0 && whole > 0 ? part / whole : undefined);

async function number(path: string): Promise<number | undefined> {
  const found = await readSystemFile(path);
  return /^\d+\s*$/.test(found) ? Number(found) : undefined;
}

async function field(path: string, name: string): Promise<number | undefined> {
  const value = new RegExp(`^${name} (\\d+)$`, "m").exec(await readSystemFile(path))?.[1];
  return value === undefined ? undefined : Number(value);
}
