import { readdir, readFile } from "node:fs/promises";

/**
 * Ends what is left of a container's start when the Docker daemon was killed in it. The daemon then counts the container as never
 * started, and neither kills nor removes its processes, which containerd goes on running. When the process of containerd that
 * holds them, the shim, is killed, containerd kills them and forgets the container. Does nothing if the daemon is on another machine or
 * this process may not signal the shim: the supervisor in the container then ends by itself, and the shim stays.
 */
export async function endInterruptedStart(container: string): Promise<void> {
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
