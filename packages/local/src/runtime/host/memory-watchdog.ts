import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { MachineLimits } from "../sandbox-runtime.js";
import type { MachineGroup, MachineGroups } from "./machine-group.js";
import { processTree } from "./process-tree.js";

const intervalMs = 250;
/** Of so many looks, one is close at every machine: tables of pages that are gone show only there. */
const closeLookEvery = 8;

/**
 * Holds machines to their memory where no control group can: adds up what a machine's processes use, and kills the
 * largest of them when it is too much. It looks four times a second, so that a machine may pass its limit for a moment.
 *
 * Machines see the figures in the form that a control group of the unified hierarchy has.
 */
export class MemoryWatchdog implements MachineGroups {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #pageKb: Promise<number> | undefined;

  private constructor(readonly figures: string) {}

  /** Keeps what machines see in `figures`, a directory that is made here. */
  static async open(figures: string): Promise<MemoryWatchdog> {
    await mkdir(figures, { recursive: true });
    await chmod(figures, 0o755);
    return new MemoryWatchdog(figures);
  }

  async create(name: string, limits: MachineLimits): Promise<MachineGroup> {
    const figures = join(this.figures, name);
    await mkdir(figures, { recursive: true });
    await chmod(figures, 0o755);
    const watched: Watched = { figures, limitKb: limits.memoryMb * 1024, kills: 0, init: undefined };
    await writeFile(join(figures, "memory.max"), `${limits.memoryMb * 1024 * 1024}\n`);
    await writeFile(eventsFile(watched), "oom_kill 0\n");
    return {
      memberFiles: [],
      helperFiles: [],
      canFreeze: false,
      countsFiles: false,
      figures: { source: figures, target: "/sys/fs/cgroup" },
      adopt: (init) => {
        watched.init = init;
        this.#watched.add(watched);
        this.#schedule();
      },
      freeze: () => Promise.reject(new Error("There is no freezer.")),
      outOfMemoryKills: async () => watched.kills,
      remove: async () => {
        this.#watched.delete(watched);
        await rm(figures, { recursive: true, force: true });
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
      // Machines come and go while it looks; what fails now is looked at again in a moment.
      await this.#look().catch(() => undefined);
      this.#timer = undefined;
      this.#schedule();
    }, intervalMs).unref();
  }

  async #look(): Promise<void> {
    this.#pageKb ??= pageSize();
    const [tree, pageKb] = await Promise.all([processTree(), this.#pageKb]);
    const isCloseLook = this.#looks++ % closeLookEvery === 0;
    for (const watched of this.#watched) {
      const { init, limitKb } = watched;
      if (init === undefined) continue;
      const processes = tree.descendants(init);
      const pages = processes.reduce((sum, pid) => sum + tree.residentPages(pid), 0);
      // What is shared is counted for each there, so it is never less than what counts.
      if (pages * pageKb <= limitKb && !isCloseLook) continue;
      const uses = await Promise.all(processes.map(memoryUse));
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
      // First the count, so that the agent finds it when it asks why its child died; but nothing holds up the kill.
      const counted = writeFile(eventsFile(watched), `oom_kill ${watched.kills}\n`).catch(() => undefined);
      await Promise.race([counted, delay(20)]);
      for (const pid of victims) tree.signal(pid, "SIGKILL");
    }
  }
}

async function pageSize(): Promise<number> {
  const maps = await readFile("/proc/self/smaps", "utf8");
  return Number(/^KernelPageSize:\s+(\d+) kB/m.exec(maps)?.[1] ?? 4);
}

interface Watched {
  readonly figures: string;
  readonly limitKb: number;
  kills: number;
  init: number | undefined;
}

const eventsFile = ({ figures }: Watched): string => join(figures, "memory.events");

interface MemoryUse {
  readonly pid: number;
  /** Memory that is not backed by a file: its own, what it has touched of shared memory, and the tables for both. */
  readonly kb: number;
  /** What the kernel would go by too. The agent gives its children more than it has itself. */
  readonly dispensability: number;
}

async function memoryUse(pid: number): Promise<MemoryUse> {
  const [status, adjustment] = await Promise.all([
    readFile(`/proc/${pid}/status`, "utf8").catch(() => ""),
    readFile(`/proc/${pid}/oom_score_adj`, "utf8").catch(() => "0"),
  ]);
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return {
    pid,
    kb: field("RssAnon") + field("RssShmem") + field("VmPTE"),
    dispensability: Number(adjustment),
  };
}
