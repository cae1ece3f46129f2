import { readSystemFile } from "./system-file.js";

const root = "/sys/fs/cgroup";

/**
 * CPU time that the control group has used, in seconds. `undefined` if the group is not visible. Reads cgroup v2,
 * else v1, as all functions here do.
 */
export async function groupCpuSeconds(): Promise<number | undefined> {
  const microseconds = await field(`${root}/cpu.stat`, "usage_usec");
  if (microseconds !== undefined) return microseconds / 1e6;
  const nanoseconds = await number(`${root}/cpuacct/cpuacct.usage`);
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}

/** The control group's CPU limit, in processors. `undefined` if no limit is visible. */
export async function groupCpuLimit(): Promise<number | undefined> {
  const [quota, period] = (await readSystemFile(`${root}/cpu.max`)).split(" ").map(Number);
  const [quota1, period1] = await Promise.all([
    number(`${root}/cpu/cpu.cfs_quota_us`),
    number(`${root}/cpu/cpu.cfs_period_us`),
  ]);
  return ratio(quota, period) ?? ratio(quota1, period1);
}

/**
 * Memory that the control group's processes use, in bytes. The page cache is subtracted, which includes files in
 * tmpfs.
 */
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

/** The control group's memory limit, in bytes. `undefined` if no limit is visible. */
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
