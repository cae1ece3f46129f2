import { mkdir, readdir, readFile, readlink, rm, rmdir, symlink } from "node:fs/promises";
import { join } from "node:path";

export const uidLeaseDirectory = "/run/cloud-sandbox-uids";
/** Above what distributions give to accounts and containers by default, below the 2^31 that tools trip over. */
const preferred: UidRange = { first: 1_879_048_192, count: 65_536 };

interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** Whom a machine's processes belong to on the host. */
export interface MachineUids {
  /** The init's and the agent's. */
  readonly agent: number;
  /** That of the code which runs, and of its files. */
  readonly code: number;
}

/**
 * Unprivileged uids, each lent to one sandbox at a time on the whole host, so that two sandboxes share nothing.
 * A lease is a symbolic link from the uid to its owner's name: made in one step, and by one of those who try.
 */
export class UidLeases {
  readonly #held = new Set<number>();

  constructor(private readonly instance: string) {}

  /** Two that follow each other. */
  async take(): Promise<MachineUids> {
    const { first, count } = usableRange(await readFile("/proc/self/uid_map", "utf8"));
    const pairs = Math.floor(count / 2);
    const start = Math.floor(Math.random() * pairs);
    for (let step = 0; step < pairs; step += 1) {
      const agent = first + 2 * ((start + step) % pairs);
      if (!(await this.#lease(agent))) continue;
      if (await this.#lease(agent + 1)) return { agent, code: agent + 1 };
      await this.#release(agent);
    }
    throw new Error(`All ${count} sandbox uids are in use.`);
  }

  /** Whether it was free. */
  async #lease(uid: number): Promise<boolean> {
    try {
      await this.#link(uid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    this.#held.add(uid);
    return true;
  }

  /** Another instance may remove the directory, empty as it is, before there is something in it. */
  async #link(uid: number): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await mkdir(uidLeaseDirectory, { recursive: true, mode: 0o755 });
        return await symlink(this.instance, join(uidLeaseDirectory, String(uid)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt >= 20) throw error;
      }
    }
  }

  async release({ agent, code }: MachineUids): Promise<void> {
    await Promise.all([this.#release(agent), this.#release(code)]);
  }

  async #release(uid: number): Promise<void> {
    if (!this.#held.has(uid)) return;
    await rm(join(uidLeaseDirectory, String(uid)), { force: true });
    this.#held.delete(uid);
  }

  async close(): Promise<void> {
    for (const uid of [...this.#held]) await this.#release(uid);
    // Other instances may hold leases of their own.
    await rmdir(uidLeaseDirectory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "ENOENT") throw error;
    });
  }

  /** Takes back the leases of owners for which `isAlive` says no. */
  static async removeStale(isAlive: (instance: string) => boolean): Promise<void> {
    for (const name of await readdir(uidLeaseDirectory).catch(() => [])) {
      const lease = join(uidLeaseDirectory, name);
      const owner = await readlink(lease).catch(() => undefined);
      if (owner !== undefined && !isAlive(owner)) await rm(lease, { force: true });
    }
  }
}

/** In a user namespace of its own, root may only use the uids that were mapped for it: then the upper half of those. */
export function usableRange(uidMap: string): UidRange {
  const extents = uidMap
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }));
  const covers = ({ first, count }: UidRange): boolean =>
    first <= preferred.first && first + count >= preferred.first + preferred.count;
  if (extents.some(covers)) return preferred;
  const largest = extents.reduce((best, extent) => (extent.count > best.count ? extent : best), {
    first: 0,
    count: 0,
  });
  const count = Math.floor(largest.count / 2);
  if (count < 2) {
    throw new Error(
      "Too few uids beside root's are mapped in this user namespace; map more, or start as an ordinary user.",
    );
  }
  return { first: largest.first + largest.count - count, count: Math.min(count, preferred.count) };
}
