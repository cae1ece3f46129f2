import { readdir, readFile } from "node:fs/promises";

/**
 * Stops or continues a process and all its descendants, for hosts without a freezer.
 *
 * Everything in a machine descends from its process 1. A process may fork while the tree is walked, so the walk is
 * repeated until it meets nobody new; the parents met earlier are stopped by then and fork no more.
 */
export async function stopProcessTree(root: number, stop: boolean): Promise<void> {
  const signalled = new Set<number>();
  for (;;) {
    const fresh = (await descendants(root)).filter((pid) => !signalled.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      signalled.add(pid);
      signalIfThere(pid, stop ? "SIGSTOP" : "SIGCONT");
    }
  }
}

async function descendants(root: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    }),
  );
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
