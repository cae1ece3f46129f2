import { type Stats, statSync } from "node:fs";

/** Files and directories of the kernel that are hidden in a machine, as absolute paths. */
export interface MaskedKernelFiles {
  readonly files: readonly string[];
  readonly directories: readonly string[];
}

/**
 * The files and directories in `/proc` to hide, because they describe the host instead of the machine: how it was
 * booted, its hardware, its disks and their load, who holds which lock. Files that programs such as `top` and `free`
 * read stay visible. Every hidden file costs each start of a machine a mount, so files that only the host's root may
 * read are not hidden: no process in a machine is the host's root.
 */
export function maskedKernelFiles(): MaskedKernelFiles {
  const modes = revealingNames.map((name) => {
    const path = `/proc/${name}`;
    const status = statusOf(path);
    return { path, isDirectory: status?.isDirectory() ?? false, mode: status?.mode ?? 0 };
  });
  const readable = modes.filter(({ mode }) => (mode & 0o004) !== 0);
  return {
    files: readable.filter(({ isDirectory }) => !isDirectory).map(({ path }) => path),
    directories: readable.filter(({ isDirectory }) => isDirectory).map(({ path }) => path),
  };
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The files and directories in `/proc` that describe the host. */
// biome-ignore format: a list of names reads best as a list
export const revealingNames = [
  "acpi", "asound", "bus", "cmdline", "config.gz", "diskstats", "fs", "interrupts", "iomem", "ioports", "kallsyms",
  "kcore", "keys", "latency_stats", "locks", "mdstat", "modules", "partitions", "pressure", "sched_debug", "schedstat",
  "scsi", "slabinfo", "timer_list", "timer_stats", "vmallocinfo",
];
