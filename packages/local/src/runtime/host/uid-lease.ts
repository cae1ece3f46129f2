import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";

export const uidLeaseDirectory = "/run/cloud-sandbox-uids";
/**
 * A range of uids above those that distributions give to accounts and containers, and below 2^31, which some tools
 * cannot handle.
 */
const preferred: UidRange = { first: 1_879_048_192, count: 65_536 };

/** How many uids a machine in which code is root has. */
export const rangeSize = 65_536;
/** The first uid of the ranges, above the uids that are leased in pairs, and the first above the ranges. */
const ranges = { first: preferred.first + preferred.count, end: 2 ** 31 } as const;

interface UidRange {
  readonly first: number;
  readonly count: number;
}

/** The host uids of a machine's processes. */
export interface MachineUids {
  /** Uid of the machine's process 1 and of its agent. */
  readonly agent: number;
  /** Uid of the user's programs and files. */
  readonly code: number;
  /** Whether code is root inside, so that all {@link rangeSize} uids from `code` to `agent` are the machine's. Default: false. */
  readonly isRange?: boolean;
}

/**
 * Leases unprivileged uids to sandboxes. On the whole host a uid belongs to one sandbox at a time, so that no two share
 * one. A lease is a symbolic link named after the uid that points to its owner, because creating a link is atomic. The links
 * are in memory and written synchronously, which takes less processor time than handing each write to another thread.
 */
export class UidLeases {
  readonly #held = new Set<number>();
  #range: UidRange | undefined;

  constructor(private readonly instance: string) {}

  /** Leases two consecutive uids. */
  take(): MachineUids {
    this.#range ??= usableRange(readFileSync("/proc/self/uid_map", "utf8"));
    const { first, count } = this.#range;
    const pairs = Math.floor(count / 2);
    const start = Math.floor(Math.random() * pairs);
    for (let step = 0; step < pairs; step += 1) {
      const agent = first + 2 * ((start + step) % pairs);
      if (!this.#lease(agent)) continue;
      if (this.#lease(agent + 1)) return { agent, code: agent + 1 };
      this.#release(agent);
    }
    throw new Error(`All ${count} uids for sandboxes are in use. Delete a sandbox first.`);
  }

  /** Leases {@link rangeSize} consecutive uids. */
  takeRange(): MachineUids {
    const count = Math.floor((ranges.end - ranges.first) / rangeSize);
    const start = Math.floor(Math.random() * count);
    for (let step = 0; step < count; step += 1) {
      const code = ranges.first + rangeSize * ((start + step) % count);
      if (this.#lease(code)) return { agent: code + rangeSize - 1, code, isRange: true };
    }
    throw new Error(`All ${count} ranges of uids for sandboxes are in use. Delete a sandbox first.`);
  }

  /** Leases one uid; false if another sandbox has it. */
  #lease(uid: number): boolean {
    try {
      this.#link(uid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    this.#held.add(uid);
    return true;
  }

  /** Creates the link. Retries, because another instance may remove the directory while it is still empty. */
  #link(uid: number): void {
    for (let attempt = 0; ; attempt += 1) {
      try {
        symlinkSync(this.instance, join(uidLeaseDirectory, String(uid)));
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt >= 20) throw error;
        mkdirSync(uidLeaseDirectory, { recursive: true, mode: 0o755 });
      }
    }
  }

  release({ agent, code }: MachineUids): void {
    this.#release(agent);
    this.#release(code);
  }

  #release(uid: number): void {
    if (!this.#held.has(uid)) return;
    try {
      unlinkSync(join(uidLeaseDirectory, String(uid)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    this.#held.delete(uid);
  }

  async close(): Promise<void> {
    for (const uid of [...this.#held]) this.#release(uid);
    // Other instances may hold leases of their own.
    await rmdir(uidLeaseDirectory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "ENOENT") throw error;
    });
  }

  /** The instances that hold leases. */
  static owners(): readonly string[] {
    const owners = leasedUids().map((name) => ownerOf(join(uidLeaseDirectory, name)));
    return [...new Set(owners)].filter((owner) => owner !== undefined);
  }

  /** Removes the leases of dead owners. */
  static removeStale(isAlive: (instance: string) => boolean): void {
    for (const name of leasedUids()) {
      const lease = join(uidLeaseDirectory, name);
      const owner = ownerOf(lease);
      if (owner !== undefined && !isAlive(owner)) rmSync(lease, { force: true });
    }
  }
}

function ownerOf(lease: string): string | undefined {
  try {
    return readlinkSync(lease);
  } catch {
    return undefined;
  }
}

function leasedUids(): readonly string[] {
  try {
    return readdirSync(uidLeaseDirectory);
  } catch {
    return [];
  }
}

/** Whether this process may use the uids of the ranges. In a user namespace it may use mapped uids only. */
export function mapsRanges(uidMap: string): boolean {
  return extentsOf(uidMap).some(({ first, count }) => first <= ranges.first && first + count >= ranges.end);
}

function extentsOf(uidMap: string): UidRange[] {
  return uidMap
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }));
}

/** The uids to lease from. In a user namespace root may only use mapped uids: then the upper half of the largest mapped range. */
export function usableRange(uidMap: string): UidRange {
  const extents = extentsOf(uidMap);
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
