import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAliveIdentity, processIdentity } from "./process-identity.js";

const prefix = "cloud-sandbox-";
/** The owner is in the name, so that there is no moment at which the directory is nobody's. */
const namePattern = /^cloud-sandbox-(\d+-\d+)-\w+$/;

/**
 * One directory an instance, for what its machines are made of and for their sockets; gone when it closes.
 *
 * It may be entered by every uid (sandboxes have their own) but only its owner can list or write it, and
 * `sockets` is its owner's alone.
 */
export class InstanceDirectory {
  private constructor(
    readonly path: string,
    /** `<pid>-<start time>` of the owner, which also names its control groups and uid leases. */
    readonly instance: string,
  ) {}

  static async create(): Promise<InstanceDirectory> {
    const instance = ownIdentity();
    const path = await mkdtemp(join(tmpdir(), `${prefix}${instance}-`));
    await mkdir(join(path, "sockets"), { mode: 0o700 });
    await chmod(path, 0o711);
    return new InstanceDirectory(path, instance);
  }

  /** A directory that is removed as one of this process's should it not come to that itself, and is otherwise the caller's. */
  static async createPrivate(): Promise<string> {
    return mkdtemp(join(tmpdir(), `${prefix}${ownIdentity()}-`));
  }

  socket(id: string): string {
    return join(this.path, "sockets", id);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** Removes directories of instances that ended without being able to. */
  static async removeStale(): Promise<void> {
    for (const name of await readdir(tmpdir())) {
      const owner = namePattern.exec(name)?.[1];
      if (owner === undefined || isAliveIdentity(owner)) continue;
      const path = join(tmpdir(), name);
      const status = await lstat(path).catch(() => undefined);
      if (!status?.isDirectory() || status.uid !== process.getuid?.()) continue;
      await rm(path, { recursive: true, force: true });
    }
  }
}

function ownIdentity(): string {
  const identity = processIdentity(process.pid);
  if (identity === undefined)
    throw new Error("/proc is not mounted: this process cannot find its own start time.");
  return identity;
}
