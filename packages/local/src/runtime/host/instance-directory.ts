import { randomBytes } from "node:crypto";
import { chmodSync, constants, mkdirSync, readdirSync, statSync } from "node:fs";
import { chmod, chown, copyFile, lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isAlive, removeLivenessSocket, showAlive } from "./liveness.js";
import { identityPattern, processIdentity } from "./process-identity.js";
import { removeTree } from "./remove-tree.js";

const prefix = "cloud-sandbox-";
/** A tmpfs that exists on every Linux system and that every user may write to. macOS has none. */
const sharedMemory = "/dev/shm";
/** The most bytes in the path of a Unix socket on macOS; on Linux it is 107. */
const longestSocketPath = 103;
/** The length of a sandbox's id. The sockets of its machine have that name, or a shorter one. */
const longestSocketName = 18;
/**
 * Where the directory is made if the path of the user's own temporary directory is too long for sockets, as on macOS, or if sandboxes
 * cannot enter that.
 */
const shortDirectory = "/tmp";
/**
 * The directory for temporary files, as an absolute path: the guard, which removes what is made there, has another working directory.
 */
export function temporaryDirectory(): string {
  const own = resolve(tmpdir());
  // Sandboxes of root have uids of their own, and a directory that a login makes for its user alone is closed to them.
  return process.getuid?.() === 0 && !isOpenToAll(own) ? shortDirectory : own;
}

/** Whether every user may enter a directory. One that cannot be looked at is left to whoever uses it. */
function isOpenToAll(directory: string): boolean {
  const parent = dirname(directory);
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? constants.S_IXOTH;
  return (mode & constants.S_IXOTH) !== 0 && (parent === directory || isOpenToAll(parent));
}

/**
 * The directory's name contains its owner's pid and start time, so the owner is known from the moment the directory
 * exists.
 */
const namePattern = new RegExp(`^${prefix}(${identityPattern.source})-\\w+$`);

const signPattern = new RegExp(`^${prefix}(${identityPattern.source})\\.life$`);

export interface PrivateDirectory {
  readonly path: string;
  /** Removes the directory. What cannot be removed is left to the next control plane on this machine. */
  readonly remove: () => Promise<void>;
}

/**
 * The directory of one control plane process: it holds the files that machines are made of, and their sockets. It is
 * removed when the process ends.
 *
 * Every uid may enter the directory, because sandboxes have their own uids, but only its owner can list or write it.
 * Only its owner may enter `sockets`. In `egress`, a process can reach only a socket whose random name it knows and
 * whose uid it has.
 */
export class InstanceDirectory {
  readonly #hideAlive: (() => void)[] = [];
  #inMemory: string;

  private constructor(
    readonly path: string,
    inMemory: string,
    /** `<pid>-<start time>` of the owner, which also names its control groups and uid leases. */
    readonly instance: string,
  ) {
    this.#inMemory = inMemory;
  }

  /** Chooses the path without creating it, so that the guard that removes it can be started before {@link make}. */
  static plan(): InstanceDirectory {
    const instance = ownIdentity();
    const name = `${prefix}${instance}-${randomBytes(6).toString("hex")}`;
    return new InstanceDirectory(join(socketDirectory(name), name), join(sharedMemory, name), instance);
  }

  /** A second directory, in memory if possible, where creating and removing thousands of small files is fast. */
  get inMemory(): string {
    return this.#inMemory;
  }

  /** Synchronously: handing each of these short calls to another thread would take longer than the call. */
  make(): void {
    this.#hideAlive.push(showAlive(dirname(this.path), this.instance));
    for (const name of [".", "sockets", "egress", "files"]) mkdirSync(join(this.path, name), { mode: 0o700 });
    for (const name of ["egress", "files", "."]) chmodSync(join(this.path, name), 0o711);
    try {
      mkdirSync(this.#inMemory, { mode: 0o700 });
      this.#hideAlive.push(showAlive(sharedMemory, this.instance));
    } catch {
      this.#inMemory = join(this.path, "memory");
      mkdirSync(this.#inMemory, { mode: 0o700 });
    }
    chmodSync(this.#inMemory, 0o711);
  }

  /**
   * Creates a temporary directory that the caller removes. If this process is killed first, the next control plane
   * removes it.
   */
  static async createPrivate(): Promise<PrivateDirectory> {
    const directory = temporaryDirectory();
    const hideAlive = showAlive(directory, ownIdentity());
    const path = await mkdtemp(join(directory, `${prefix}${ownIdentity()}-`)).catch((error: unknown) => {
      hideAlive();
      throw error;
    });
    const remove = async (): Promise<void> => {
      await removeTree(path).catch(() => undefined);
      hideAlive();
    };
    return { path, remove };
  }

  socket(id: string): string {
    return join(this.path, "sockets", id);
  }

  egressSocket(id: string): string {
    return join(this.path, "egress", id);
  }

  /** Copies files for one machine, so that machines share neither the original files nor their inodes. */
  async handOut(
    files: readonly { readonly source: string; readonly target: string }[],
    name: string,
    uid: number | undefined,
  ): Promise<{ mounts: { source: string; target: string }[]; remove: () => Promise<void> }> {
    const copies = files.map((file, index) => ({
      ...file,
      copy: join(this.path, "files", `${name}-${index}`),
    }));
    const remove = async (): Promise<void> => {
      await Promise.all(copies.map(({ copy }) => rm(copy, { force: true })));
    };
    try {
      for (const { source, copy } of copies) {
        await copyFile(source, copy, constants.COPYFILE_FICLONE);
        await chmod(copy, 0o400);
        if (uid !== undefined) await chown(copy, uid, uid);
      }
    } catch (error) {
      await remove();
      throw error;
    }
    return { mounts: copies.map(({ copy, target }) => ({ source: copy, target })), remove };
  }

  async remove(): Promise<void> {
    await removeTree(this.inMemory, this.path);
  }

  /** Call it when the directory is removed. */
  hideAlive(): void {
    for (const hide of this.#hideAlive.splice(0)) hide();
  }

  /** Removes the directories of instances that were killed. */
  static async removeStale(): Promise<void> {
    for (const directory of directories()) await removeStaleIn(directory);
  }

  /** The instances that are alive. */
  static async living(instances: Iterable<string>): Promise<ReadonlySet<string>> {
    const living = new Set<string>();
    for (const instance of instances) if (await isAlive(instance, directories())) living.add(instance);
    return living;
  }
}

/** Where instances have their directories. */
const directories = (): ReadonlySet<string> => new Set([temporaryDirectory(), shortDirectory, sharedMemory]);

function socketDirectory(name: string): string {
  const directory = temporaryDirectory();
  const longest = join(directory, name, "sockets", "-".repeat(longestSocketName));
  return Buffer.byteLength(longest) > longestSocketPath ? shortDirectory : directory;
}

async function removeStaleIn(directory: string): Promise<void> {
  for (const name of namesIn(directory)) {
    const owner = (namePattern.exec(name) ?? signPattern.exec(name))?.[1];
    if (owner === undefined || (await isAlive(owner, directories()))) continue;
    const path = join(directory, name);
    const status = await lstat(path).catch(() => undefined);
    if (status?.uid !== process.getuid?.()) continue;
    if (status?.isSocket()) removeLivenessSocket(directory, owner);
    if (!status?.isDirectory()) continue;
    await killMachines(path);
    // Ignore errors: that instance's guard, or another process that is starting, may be removing the directory too.
    // What remains is removed at the next start.
    await removeTree(path).catch(() => undefined);
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * Kills the machines whose command line names this directory. The kernel kills machines when their server dies, except
 * machines that were just being created: their bubblewrap was killed, and its child waits for it forever.
 */
async function killMachines(directory: string): Promise<void> {
  if (process.platform !== "linux") return;
  for (const pid of (await readdir("/proc")).map(Number).filter(Number.isInteger)) {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
    if (!words.includes("bwrap") || !words.includes(directory)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // ESRCH: the process has ended. EPERM: it belongs to another user, whose command line happens to name the
      // directory.
      if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
}

function ownIdentity(): string {
  const identity = processIdentity(process.pid);
  if (identity === undefined)
    throw new Error("This process cannot find its own start time: on Linux that needs /proc to be mounted.");
  return identity;
}
