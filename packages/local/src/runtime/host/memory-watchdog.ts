import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { MachineLimits } from "../sandbox-runtime.js";
import type { MachineGroup, MachineGroups } from "./machine-group.js";
import { type HostProcess, processTree, signalIfThere } from "./process-tree.js";
import { textOf } from "./text-of.js";

const intervalMs = 250;
/** Every eighth check measures every machine exactly, because the cheap check misses page tables without pages. */
const exactCheckEvery = 8;

/**
 * Enforces memory limits on hosts without control groups: adds up the memory of a machine's processes and kills the largest
 * ones when the sum is over the limit. It checks four times a second, so a machine may exceed its limit for a moment.
 *
 * Machines see their memory use in the files of a v2 control group, such as `memory.max`.
 */
export class MemoryWatchdog implements MachineGroups {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;
  #checks = 0;
  #pageKb: Promise<number> | undefined;

  private constructor(readonly memoryFiles: string) {}

  /** Creates the directory `memoryFiles` for the files of all machines. */
  static async open(memoryFiles: string): Promise<MemoryWatchdog> {
    await mkdir(memoryFiles, { recursive: true });
    await chmod(memoryFiles, 0o755);
    return new MemoryWatchdog(memoryFiles);
  }

  async create(name: string, limits: MachineLimits): Promise<MachineGroup> {
    const memoryFiles = join(this.memoryFiles, name);
    await mkdir(memoryFiles, { recursive: true });
    await chmod(memoryFiles, 0o755);
    const watched: Watched = { memoryFiles, limitKb: limits.memoryMb * 1024, kills: 0, init: undefined };
    await writeFile(join(memoryFiles, "memory.max"), `${limits.memoryMb * 1024 * 1024}\n`);
    await writeFile(eventsFile(watched), "oom_kill 0\n");
    return {
      memberFiles: [],
      helperFiles: [],
      canFreeze: false,
      countsFiles: false,
      memoryFiles: { source: memoryFiles, target: "/sys/fs/cgroup" },
      adopt: (init) => {
        watched.init = init;
        this.#watched.add(watched);
        this.#schedule();
      },
      freeze: () =>
        Promise.reject(
          new Error("A machine cannot be frozen here, because this host has no control groups."),
        ),
      outOfMemoryKills: async () => watched.kills,
      remove: async () => {
        this.#watched.delete(watched);
        await rm(memoryFiles, { recursive: true, force: true });
      },
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#watched.clear();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#watched.size === 0) return;
    this.#timer = setTimeout(async () => {
      // Machines may end during a check and make it fail. The next check comes in 250 ms.
      await this.#check().catch(() => undefined);
      this.#timer = undefined;
      this.#schedule();
    }, intervalMs).unref();
  }

  async #check(): Promise<void> {
    this.#pageKb ??= pageSize();
    const pageKb = await this.#pageKb;
    const isExactCheck = this.#checks++ % exactCheckEvery === 0;
    for (const watched of this.#watched) {
      const { init, limitKb } = watched;
      if (init === undefined) continue;
      const processes = await processTree(init);
      const pages = processes.reduce((sum, { residentPages }) => sum + residentPages, 0);
      // Resident pages count shared memory once for each process, so the sum is never too low.
      if (pages * pageKb <= limitKb && !isExactCheck) continue;
      const uses = processes.map(memoryUse);
      const worstFirst = uses
        .filter(({ pid }) => pid !== init)
        .sort((a, b) => b.dispensability - a.dispensability || b.kb - a.kb);
      const victims: number[] = [];
      let total = uses.reduce((sum, { kb }) => sum + kb, 0);
      for (const { pid, kb } of worstFirst) {
        if (total <= limitKb) break;
        total -= kb;
        victims.push(pid);
      }
      if (victims.length === 0 || !this.#watched.has(watched)) continue;
      watched.kills += victims.length;
      // Write the count before the kill, so that the agent finds it when it asks why its child died. Wait 20 ms at most.
      const counted = writeFile(eventsFile(watched), `oom_kill ${watched.kills}\n`).catch(() => undefined);
      await Promise.race([counted, delay(20)]);
      for (const pid of victims) signalIfThere(pid, "SIGKILL");
    }
  }
}

async function pageSize(): Promise<number> {
  const maps = await readFile("/proc/self/smaps", "utf8");
  return Number(/^KernelPageSize:\s+(\d+) kB/m.exec(maps)?.[1] ?? 4);
}

interface Watched {
  readonly memoryFiles: string;
  readonly limitKb: number;
  kills: number;
  init: number | undefined;
}

const eventsFile = ({ memoryFiles }: Watched): string => join(memoryFiles, "memory.events");

interface MemoryUse {
  readonly pid: number;
  /** Memory without a file behind it: anonymous memory, shared memory and page tables. */
  readonly kb: number;
  /** The process's `oom_score_adj`, by which the kernel chooses its victims too. The agent gives its children a higher value than its own. */
  readonly dispensability: number;
}

function memoryUse({ pid }: HostProcess): MemoryUse {
  const status = textOf(`/proc/${pid}/status`);
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return {
    pid,
    kb: field("RssAnon") + field("RssShmem") + field("VmPTE"),
    dispensability: Number(textOf(`/proc/${pid}/oom_score_adj`)),
  };
}
