import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAliveIdentity, processIdentity } from "./process-identity.js";

const prefix = "cloud-sandbox-";
/** A tmpfs that every Linux has, and every user may write to. */
const sharedMemory = "/dev/shm";
/** The owner is in the name, so that there is no moment at which the directory is nobody's. */
const namePattern = /^cloud-sandbox-(\d+-\d+)-\w+$/;

/**
 * One directory an instance, for what its machines are made of and for their sockets; gone when it closes.
 *
 * It may be entered by every uid (sandboxes have their own) but only its owner can list or write it, and
 * `sockets` is its owner's alone. What `egress` holds may be reached by whoever knows its name and owns it.
 */
export class InstanceDirectory {
  private constructor(
    readonly path: string,
    /** One more, in memory where that is possible: thousands of small things are made and removed there in no time. */
    readonly inMemory: string,
    /** `<pid>-<start time>` of the owner, which also names its control groups and uid leases. */
    readonly instance: string,
  ) {}

  static async create(): Promise<InstanceDirectory> {
    const instance = ownIdentity();
    const path = await mkdtemp(join(tmpdir(), `${prefix}${instance}-`));
    await mkdir(join(path, "sockets"), { mode: 0o700 });
    await mkdir(join(path, "egress"));
    for (const entered of [join(path, "egress"), path]) await chmod(entered, 0o711);
    const inMemory = await mkdtemp(join(sharedMemory, `${prefix}${instance}-`)).catch(() =>
      join(path, "memory"),
    );
    await mkdir(inMemory, { recursive: true });
    await chmod(inMemory, 0o711);
    return new InstanceDirectory(path, inMemory, instance);
  }

  /** A directory that is removed as one of this process's should it not come to that itself, and is otherwise the caller's. */
  static async createPrivate(): Promise<string> {
    return mkdtemp(join(tmpdir(), `${prefix}${ownIdentity()}-`));
  }

  socket(id: string): string {
    return join(this.path, "sockets", id);
  }

  egressSocket(id: string): string {
    return join(this.path, "egress", id);
  }

  async remove(): Promise<void> {
    await rm(this.inMemory, { recursive: true, force: true });
    await rm(this.path, { recursive: true, force: true });
  }

  /** Removes directories of instances that ended without being able to. */
  static async removeStale(): Promise<void> {
    const places = [tmpdir(), sharedMemory];
    for (const place of places) await removeStaleIn(place);
  }
}

async function removeStaleIn(place: string): Promise<void> {
  for (const name of await readdir(place).catch(() => [])) {
    const owner = namePattern.exec(name)?.[1];
    if (owner === undefined || isAliveIdentity(owner)) continue;
    const path = join(place, name);
    const status = await lstat(path).catch(() => undefined);
    if (!status?.isDirectory() || status.uid !== process.getuid?.()) continue;
    await rm(path, { recursive: true, force: true });
  }
}

function ownIdentity(): string {
  const identity = processIdentity(process.pid);
  if (identity === undefined)
    throw new Error("/proc is not mounted: this process cannot find its own start time.");
  return identity;
}
