import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { groupCpuSeconds, groupMemoryBytes, groupMemoryLimit } from "./control-group.js";
import { readProcessTable } from "./process-table.js";

export interface Usage {
  /** Of all cores the sandbox may use. */
  readonly cpuPercent: number;
  readonly memory: Share;
  readonly disk: Share;
  readonly processes: number;
}

/** In MiB. */
export interface Share {
  readonly used: number;
  readonly total: number;
  readonly percent: number;
}

const mebibyte = 1024 * 1024;
/** Asked more often than this, in milliseconds, the processor's load would be noise. */
const shortestInterval = 200;
const maxProcesses = 10_000;

/** What the sandbox uses, as its control group tells it, else as its processes add up to. */
export class ResourceUsage {
  #sample = { at: performance.now(), cpuSeconds: 0 };
  #cpuPercent = 0;

  constructor(
    private readonly workspace: string,
    private readonly memoryLimitMb: number | undefined,
  ) {}

  async read(): Promise<Usage> {
    const [processes, cpu, memory, limit, disk] = await Promise.all([
      readProcessTable(maxProcesses),
      groupCpuSeconds(),
      groupMemoryBytes(),
      groupMemoryLimit(),
      statfs(this.workspace).catch(() => undefined),
    ]);
    const sum = (of: (process: (typeof processes)[number]) => number) =>
      processes.reduce((total, process) => total + of(process), 0);
    const memoryLimit =
      this.memoryLimitMb ?? Math.min(limit ?? Number.POSITIVE_INFINITY, totalmem()) / mebibyte;
    const blocks = (count: number) => ((disk?.bsize ?? 0) * count) / mebibyte;
    return {
      cpuPercent: this.#load(cpu ?? sum(({ cpuSeconds }) => cpuSeconds)),
      memory: share((memory ?? sum(({ anonymousKb }) => anonymousKb * 1024)) / mebibyte, memoryLimit),
      disk: share(blocks((disk?.blocks ?? 0) - (disk?.bfree ?? 0)), blocks(disk?.blocks ?? 0)),
      processes: processes.length,
    };
  }

  #load(cpuSeconds: number): number {
    const now = performance.now();
    const elapsed = now - this.#sample.at;
    if (elapsed < shortestInterval) return this.#cpuPercent;
    const used = Math.max(0, cpuSeconds - this.#sample.cpuSeconds);
    this.#cpuPercent = percent(used * 1000, elapsed * availableParallelism());
    this.#sample = { at: now, cpuSeconds };
    return this.#cpuPercent;
  }
}

const share = (used: number, total: number): Share => ({
  used: round(used),
  total: round(total),
  percent: percent(used, total),
});

const percent = (part: number, whole: number) => (whole > 0 ? round(Math.min(100, (part / whole) * 100)) : 0);
const round = (value: number) => Math.round(value * 100) / 100;
