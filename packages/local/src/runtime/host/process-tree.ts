import { readdir, readFile } from "node:fs/promises";
import { signalIfThere } from "./signal-if-there.js";

/** A snapshot of the host's processes. */
export interface ProcessTree {
  children(pid: number): readonly number[];
  /** `root` and everything that descends from it. */
  descendants(root: number): readonly number[];
  /** The process state as the kernel writes it: `R`, `S`, `D`, `T`, `Z`, … */
  state(pid: number): string;
  /** Resident memory of a process in pages, shared memory included. */
  residentPages(pid: number): number;
  /** Sends a signal to a process that may have ended meanwhile. */
  signal(pid: number, signal: NodeJS.Signals): void;
}

export async function processTree(): Promise<ProcessTree> {
  const children = new Map<number, number[]>();
  const states = new Map<number, string>();
  const resident = new Map<number, number>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // Split after the last parenthesis: the command name before it may hold spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const parent = Number(fields[1]);
      states.set(pid, fields[0] ?? "");
      resident.set(pid, Number(fields[21]));
      const siblings = children.get(parent);
      if (siblings) siblings.push(pid);
      else children.set(parent, [pid]);
    }),
  );
  return {
    children: (pid) => children.get(pid) ?? [],
    descendants(root) {
      const found = [root];
      for (const pid of found) found.push(...(children.get(pid) ?? []));
      return found;
    },
    state: (pid) => states.get(pid) ?? "",
    residentPages: (pid) => resident.get(pid) ?? 0,
    signal: signalIfThere,
  };
}

const passes = 50;

/**
 * Stops or continues a process and all its descendants, for hosts without a freezer.
 *
 * Everything in a machine descends from its process 1. While the tree is walked, a process may fork or continue another,
 * so the walk is repeated until all processes are in the wanted state. Rejects after 50 walks: code in the machine is
 * undoing the signals.
 */
export async function stopProcessTree(root: number, stop: boolean): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) {
    const tree = await processTree();
    const others = tree.descendants(root).filter((pid) => /[TtZX]/.test(tree.state(pid)) !== stop);
    const waiting = others.filter((pid) => stop || tree.state(pid) === "T");
    if (waiting.length === 0) return;
    for (const pid of waiting) tree.signal(pid, stop ? "SIGSTOP" : "SIGCONT");
  }
  throw new Error(
    stop
      ? "The sandbox's processes keep continuing each other, so the sandbox cannot be paused."
      : "The sandbox's processes keep stopping each other, so the sandbox cannot be resumed.",
  );
}
