import { readdir, readFile } from "node:fs/promises";

/** The processes of this host, as they were when it was asked for. */
export interface ProcessTree {
  /** `root` and everything that descends from it. */
  descendants(root: number): readonly number[];
  /** Sends a signal to a process that may have ended meanwhile. */
  signal(pid: number, signal: NodeJS.Signals): void;
}

export async function processTree(): Promise<ProcessTree> {
  const children = new Map<number, number[]>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const siblings = children.get(parent);
      if (siblings) siblings.push(pid);
      else children.set(parent, [pid]);
    }),
  );
  return {
    descendants(root) {
      const found = [root];
      for (const pid of found) found.push(...(children.get(pid) ?? []));
      return found;
    },
    signal(pid, signal) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    },
  };
}

/**
 * Stops or continues a process and all its descendants, for hosts without a freezer.
 *
 * Everything in a machine descends from its process 1. A process may fork while the tree is walked, so the walk is
 * repeated until it meets nobody new; the parents met earlier are stopped by then and fork no more.
 */
export async function stopProcessTree(root: number, stop: boolean): Promise<void> {
  const signalled = new Set<number>();
  for (;;) {
    const tree = await processTree();
    const fresh = tree.descendants(root).filter((pid) => !signalled.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      signalled.add(pid);
      tree.signal(pid, stop ? "SIGSTOP" : "SIGCONT");
    }
  }
}
