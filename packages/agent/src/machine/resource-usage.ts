import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Share, Usage } from "@cloud-sandbox/server-kit/handlers";
import { groupCpuLimit, groupCpuSeconds, groupMemoryBytes, groupMemoryLimit } from "./control-group.js";
import { readProcessTable } from "./process-table.js";

const mebibyte = 1024 * 1024;
/**
 * Interval over which the CPU load is measured, in milliseconds. A shorter one would be noise; a longer one would say
 * nothing about the present.
 */
const shortestInterval = 200;
const longestInterval = 5000;
const maxProcesses = 10_000;

/** Measures the sandbox's resource usage: from its control group, or else by adding up its processes. */
export class ResourceUsage {
  #sample = { at: performance.now(), cpuSeconds: 0 };
  #cpuPercent = 0;
  #measuring: Promise<void> | undefined;

  constructor(
    private readonly workspace: string,
    private readonly memoryLimitMb: number | undefined,
  ) {}

  async read(): Promise<Usage> {
    const cpus = (await groupCpuLimit()) ?? availableParallelism();
    this.#measuring ??= this.#measure(cpus).finally(() => {
      this.#measuring = undefined;
    });
    const [processes, memory, limit, disk] = await Promise.all([
      readProcessTable(maxProcesses),
      groupMemoryBytes(),
      groupMemoryLimit(),
      statfs(this.workspace).catch(() => undefined),
      this.#measuring,
    ]);
    const memoryLimit =
      this.memoryLimitMb ?? Math.min(limit ?? Number.POSITIVE_INFINITY, totalmem()) / mebibyte;
    const anonymous = processes.reduce((sum, { anonymousKb }) => sum + anonymousKb * 1024, 0);
    const blocks = (count: number) => ((disk?.bsize ?? 0) * count) / mebibyte;
    return {
      cpuPercent: this.#cpuPercent,
      cpus,
      memory: share((memory ?? anonymous) / mebibyte, memoryLimit),
      disk: share(blocks((disk?.blocks ?? 0) - (disk?.bfree ?? 0)), blocks(disk?.blocks ?? 0)),
      processes: processes.length,
    };
  }

  /**
   * Measures the CPU load since the last sample. If that sample is older than `longestInterval`, takes a new one and
   * measures over the next `shortestInterval`.
   */
  async #measure(cpus: number): Promise<void> {
    if (performance.now() - this.#sample.at > longestInterval) {
      this.#sample = { at: performance.now(), cpuSeconds: await cpuSeconds() };
      await delay(shortestInterval);
    }
    const elapsed = performance.now() - this.#sample.at;
    if (elapsed < shortestInterval) return;
    const sample = { at: performance.now(), cpuSeconds: await cpuSeconds() };
    const used = Math.max(0, sample.cpuSeconds - this.#sample.cpuSeconds);
    this.#cpuPercent = percent(used * 1000, elapsed * cpus);
    this.#sample = sample;
  }
}

async function cpuSeconds(): Promise<number> {
  const ofGroup = await groupCpuSeconds();
  if (ofGroup !== undefined) return ofGroup;
  const processes = await readProcessTable(maxProcesses);
  return processes.reduce((sum, process) => sum + process.cpuSeconds, 0);
}

const share = (used: number, total: number): Share => ({
  used: round(used),
  total: round(total),
  percent: percent(used, total),
});

const percent = (part: number, whole: number) => (whole > 0 ? round(Math.min(100, (part / whole) * 100)) : 0);
const round = (value: number) => Math.round(value * 100) / 100;
