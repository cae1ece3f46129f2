import { readdir, readFile } from "node:fs/promises";

/**
 * Kills containerd's process that holds a container, the shim. containerd then kills the container's processes, also frozen ones, and
 * forgets the container. That ends what the Docker daemon cannot end: a container in whose start the daemon was killed, which it counts
 * as never started, and one whose shim waits for ever, as for a program that was frozen before it had begun. Does nothing
 * if the daemon is on another machine or this process may not signal the shim.
 */
export async function endShim(container: string): Promise<void> {
  if (process.platform !== "linux") return;
  for (const pid of (await readdir("/proc")).map(Number).filter(Number.isInteger)) {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
    const isShim = words[0]?.includes("containerd-shim") && words[words.indexOf("-id") + 1] === container;
    if (!isShim) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, or only root may signal it.
    }
  }
}
