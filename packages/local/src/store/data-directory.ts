import { mkdir, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DataDirectoryError } from "../errors/local-errors.js";
import { isAlive, removeLivenessSocket, showAlive } from "../runtime/host/liveness.js";
import { processIdentity } from "../runtime/host/process-identity.js";
import { unusableDirectory } from "./storage-problem.js";

/**
 * Directories that this process owns. The files in `owners` carry process ids, so they cannot tell apart two owners in
 * one process.
 */
const ownedHere = new Set<string>();

/**
 * The directory in which a control plane keeps its data across restarts. One process at a time may use it.
 *
 * To claim the directory, a process writes a file named after itself into `owners` and then reads the other files there. Two
 * processes that claim at the same time may both give up, but can never both succeed. Files of dead processes are removed.
 */
export class DataDirectory {
  private constructor(
    readonly path: string,
    private readonly ownerFile: string,
    private readonly hideAlive: () => void,
  ) {}

  static async open(wanted: string): Promise<DataDirectory> {
    let hideAlive: (() => void) | undefined;
    try {
      await makeDirectories(resolve(wanted), 0o700);
      const path = await realpath(wanted);
      const owners = join(path, "owners");
      await makeDirectories(owners, 0o700);
      if (ownedHere.has(path)) throw inUse(path, process.pid);
      const identity = processIdentity(process.pid) ?? String(process.pid);
      const ownerFile = join(owners, identity);
      // Before the file: without a sign, it would be of a dead process.
      hideAlive = showAlive(owners, identity);
      await writeFile(ownerFile, "", { mode: 0o600 });
      for (const other of await readdir(owners)) {
        if (other === identity || other.endsWith(".life")) continue;
        if (await isAlive(other, [owners])) {
          await rm(ownerFile, { force: true });
          throw inUse(path, Number.parseInt(other, 10));
        }
        await rm(join(owners, other), { force: true });
        removeLivenessSocket(owners, other);
      }
      ownedHere.add(path);
      return new DataDirectory(path, ownerFile, hideAlive);
    } catch (error) {
      hideAlive?.();
      throw unusableDirectory(wanted, error);
    }
  }

  get databaseFile(): string {
    return join(this.path, "store.sqlite");
  }

  async close(): Promise<void> {
    ownedHere.delete(this.path);
    await rm(this.ownerFile, { force: true });
    this.hideAlive();
  }
}

function inUse(path: string, pid: number): DataDirectoryError {
  return new DataDirectoryError(
    `The data directory ${path} is in use by process ${pid}. Stop that process, or choose another directory with --data-dir.`,
    { isInUse: true },
  );
}

/**
 * Creates a directory and its missing parents. Node's own recursive `mkdir` loops forever in file systems such as `/proc`,
 * which answer ENOENT to `mkdir` although the parent exists.
 */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await isThere(parent))) throw error;
    await makeDirectories(parent, mode);
    await makeDirectories(path, mode);
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
