import { closeSync, openSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { processTree } from "./process-tree.js";
import { textOf } from "./text-of.js";

/** Milliseconds between two looks at the kernel's counters for the whole host. */
const intervalMs = 250;
/** KiB that the kernel's own memory may grow, on the whole host, before each machine is looked at. */
const growthKb = 16 * 1024;

/**
 * Limits of one machine for kernel resources that no control group counts. Ordinary programs take a small part of them.
 */
const limits = {
  /** Bytes of replies of netlink sockets that nobody has read. */
  netlink: 8 * 1024 * 1024,
  /** Locks on parts of files (`fcntl`), each about 200 bytes. */
  locks: 10_000,
  /** Sockets. Each may keep some pages beyond all limits, so that it can go on at all. */
  sockets: 16_384,
} as const;
/** A machine may take this share of the asynchronous requests (`io_setup`) that the host has in all. */
const requestsShare = 8;

/** A machine, or a program without an agent. */
export interface WatchedMachine {
  /** The host's process id of its process 1. */
  readonly init: number;
  /** Called once when the machine has taken too much. Ends the machine; `message` says why. */
  readonly end: (message: string) => void;
}

/**
 * Ends machines that take much of what the kernel counts for nobody: memory that no control group limits, and numbers that are
 * one for the whole host. Where the kernel itself has a limit for one machine, that is set instead.
 *
 * Two counters of the whole host are read four times a second. The machines are looked at only when one of these has grown.
 */
export class KernelWatch {
  readonly #machines = new Set<WatchedMachine>();
  #timer: NodeJS.Timeout | undefined;
  /** The kernel's memory, in KiB, at the last look at the machines. */
  #known: number | undefined;

  /** Watches a machine until the returned function is called. */
  watch(machine: WatchedMachine): () => void {
    this.#known ??= kernelMemory();
    this.#machines.add(machine);
    this.#schedule();
    return () => {
      this.#machines.delete(machine);
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#machines.clear();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#machines.size === 0) return;
    this.#timer = setTimeout(async () => {
      // Machines may end meanwhile, and this process may have no free descriptor. The next look comes soon.
      await this.#look().catch(() => undefined);
      this.#timer = undefined;
      this.#schedule();
    }, intervalMs).unref();
  }

  async #look(): Promise<void> {
    const memory = kernelMemory();
    const requests = asynchronousRequests();
    // Memory that was given back makes room for as much again.
    this.#known = Math.min(this.#known ?? memory, memory);
    if (memory - this.#known < growthKb && requests.taken <= requests.share) return;
    this.#known = memory;
    const locks = await this.#locks();
    for (const machine of [...this.#machines]) {
      const { init } = machine;
      const taken =
        excess("replies of netlink sockets that nobody reads", netlinkBytes(init), limits.netlink, "bytes") ??
        excess("sockets", socketCount(init), limits.sockets) ??
        excess("locks on files", locks.get(machine) ?? 0, limits.locks) ??
        (requests.taken > requests.share
          ? excess("asynchronous requests", await requestsOf(init), requests.share)
          : undefined);
      if (taken === undefined || !this.#machines.delete(machine)) continue;
      machine.end(taken);
      // The list of locks may have been too long to be read to its end, so look again.
      this.#known = 0;
    }
  }

  /** The locks of the machines that have many. */
  async #locks(): Promise<ReadonlyMap<WatchedMachine, number>> {
    const byProcess = await lockCounts();
    const byMachine = new Map<WatchedMachine, number>();
    if (byProcess.size === 0) return byMachine;
    for (const machine of this.#machines) {
      const tree = await processTree(machine.init);
      const count = tree.reduce((sum, { pid }) => sum + (byProcess.get(pid) ?? 0), 0);
      byMachine.set(machine, count);
    }
    return byMachine;
  }
}

function excess(what: string, taken: number, limit: number, unit = ""): string | undefined {
  if (taken <= limit) return undefined;
  const most = [limit, unit].filter(Boolean).join(" ");
  return `It took too much of the kernel, which is shared with others: more than ${most} of ${what}.`;
}

/** KiB of the kernel's own memory on the whole host. Replies, locks and sockets are in it. */
const kernelMemory = (): number => Number(/^SUnreclaim:\s+(\d+) kB/m.exec(textOf("/proc/meminfo"))?.[1] ?? 0);

/** The asynchronous requests for which programs of the whole host have taken room, and how many a machine may take. */
function asynchronousRequests(): { readonly taken: number; readonly share: number } {
  const most = Number(textOf("/proc/sys/fs/aio-max-nr"));
  return { taken: Number(textOf("/proc/sys/fs/aio-nr")), share: Math.floor(most / requestsShare) };
}

/** Bytes that wait in the netlink sockets of the network namespace of a process. */
function netlinkBytes(pid: number): number {
  const sockets = textOf(`/proc/${pid}/net/netlink`).trim().split("\n").slice(1);
  return sockets.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[4] ?? 0), 0);
}

/** The sockets in the network namespace of a process. */
const socketCount = (pid: number): number =>
  Number(/^sockets: used (\d+)/m.exec(textOf(`/proc/${pid}/net/sockstat`))?.[1] ?? 0);

/** The requests for which the processes of a machine have room. Each takes two places of 32 bytes in memory that is mapped. */
async function requestsOf(init: number): Promise<number> {
  let bytes = 0;
  for (const { pid } of await processTree(init)) {
    // Code in the machine decides how long each list is.
    await nextTurn();
    for (const [, from, to] of textOf(`/proc/${pid}/maps`).matchAll(/^(\w+)-(\w+) .*\/\[aio\]/gm))
      bytes += Number.parseInt(to ?? "", 16) - Number.parseInt(from ?? "", 16);
  }
  return bytes / 64;
}

/** Bytes of the list of all locks that are read. A machine with more locks than are in it has too many in any case. */
const mostLockBytes = 1024 * 1024;
/** The most that the kernel returns of it at once. For each piece, it begins at the start of the list again. */
const chunkBytes = 4096;

/** Counts the file locks of processes that have more than a few. */
async function lockCounts(): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  const chunk = Buffer.alloc(chunkBytes);
  const file = openSync("/proc/locks", "r");
  try {
    let rest = "";
    for (let read = 0; read < mostLockBytes; ) {
      await nextTurn();
      const size = readSync(file, chunk);
      if (size === 0) break;
      read += size;
      const lines = (rest + chunk.toString("latin1", 0, size)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const pid = Number(/^\d+:(?: ->)? \w+ +\w+ +\w+ (\d+) /.exec(line)?.[1]);
        counts.set(pid, (counts.get(pid) ?? 0) + 1);
      }
    }
  } finally {
    closeSync(file);
  }
  return new Map([...counts].filter(([, count]) => count > limits.locks / 256));
}
