import { stat } from "node:fs/promises";

/** What of the kernel's own files is hidden in a machine. */
export interface MaskedKernelFiles {
  readonly files: readonly string[];
  readonly directories: readonly string[];
}

/**
 * The files and directories in `/proc` that tell about the host instead of the machine: how it was booted, its hardware, its
 * disks and how busy they are, who holds which lock. What programs such as `top` and `free` read stays. A mask costs each
 * start a mount, so there is none over what only the host's root may read, which nobody inside is.
 */
export async function maskedKernelFiles(): Promise<MaskedKernelFiles> {
  const modes = await Promise.all(
    telling.map(async (name) => {
      const path = `/proc/${name}`;
      const status = await stat(path).catch(() => undefined);
      return { path, isDirectory: status?.isDirectory() ?? false, mode: status?.mode ?? 0 };
    }),
  );
  const readable = modes.filter(({ mode }) => (mode & 0o004) !== 0);
  return {
    files: readable.filter(({ isDirectory }) => !isDirectory).map(({ path }) => path),
    directories: readable.filter(({ isDirectory }) => isDirectory).map(({ path }) => path),
  };
}

// biome-ignore format: a list of names reads best as a list
const telling = [
  "acpi", "asound", "bus", "cmdline", "config.gz", "diskstats", "fs", "interrupts", "iomem", "ioports", "kallsyms",
  "kcore", "keys", "latency_stats", "locks", "mdstat", "modules", "partitions", "pressure", "sched_debug", "schedstat",
  "scsi", "slabinfo", "timer_list", "timer_stats", "vmallocinfo",
];
