import { readFile } from "node:fs/promises";
import { processTree } from "./process-tree.js";

const intervalMs = 250;

/**
 * Holds whole machines to their memory where no control group does: adds up what their processes use, and kills the
 * largest when it is too much. It looks four times a second, so that a machine may pass its limit for a moment.
 */
export class MemoryWatchdog {
  readonly #watched = new Map<number, Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches the machine whose process 1 is `init`. */
  watch(init: number, limitMb: number): void {
    this.#watched.set(init, { limitKb: limitMb * 1024, kills: 0 });
    this.#schedule();
  }

  /** Stops watching, and says how many processes had to be killed. */
  release(init: number): number {
    const kills = this.#watched.get(init)?.kills ?? 0;
    this.#watched.delete(init);
    return kills;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#watched.size === 0) return;
    this.#timer = setTimeout(async () => {
      await this.#look();
      this.#timer = undefined;
      this.#schedule();
    }, intervalMs).unref();
  }

  async #look(): Promise<void> {
    const tree = await processTree();
    for (const [init, watched] of this.#watched) {
      const uses = await Promise.all(
        tree.descendants(init).map(async (pid) => ({ pid, kb: await memoryKb(pid) })),
      );
      const total = uses.reduce((sum, { kb }) => sum + kb, 0);
      const largest = uses
        .filter(({ pid }) => pid !== init)
        .reduce((a, b) => (b.kb > a.kb ? b : a), { pid: 0, kb: 0 });
      if (total <= watched.limitKb || largest.pid === 0 || !this.#watched.has(init)) continue;
      watched.kills += 1;
      tree.signal(largest.pid, "SIGKILL");
    }
  }
}

interface Watched {
  readonly limitKb: number;
  kills: number;
}

/** Memory of a process that is not backed by a file: its own, and what it has touched of shared memory. */
async function memoryKb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return field("RssAnon") + field("RssShmem");
}
