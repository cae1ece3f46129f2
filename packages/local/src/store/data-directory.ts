import { readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DataDirectoryError } from "../errors/local-errors.js";
import { isAliveIdentity, processIdentity } from "../runtime/host/process-identity.js";
import { makeDirectories } from "./make-directories.js";
import { unusableDirectory } from "./storage-problem.js";

/** Directories owned by this process, which a look at the owners' files does not tell from leftovers. */
const ownedHere = new Set<string>();

/**
 * Where a control plane keeps what outlives it; of one process at a time.
 *
 * Each that wants it leaves a file with its name in `owners` and then looks who else did: of two that come at once both
 * may have to give up, but never both go on. A file whose process is gone counts for nothing.
 */
export class DataDirectory {
  private constructor(
    readonly path: string,
    private readonly ownerFile: string,
  ) {}

  static async open(wanted: string): Promise<DataDirectory> {
    try {
      await makeDirectories(resolve(wanted), 0o700);
      const path = await realpath(wanted);
      const owners = join(path, "owners");
      await makeDirectories(owners, 0o700);
      if (ownedHere.has(path)) throw inUse(path, process.pid);
      const identity = processIdentity(process.pid) ?? String(process.pid);
      const ownerFile = join(owners, identity);
      await writeFile(ownerFile, "", { mode: 0o600 });
      for (const other of await readdir(owners)) {
        if (other === identity) continue;
        if (isAliveIdentity(other)) {
          await rm(ownerFile, { force: true });
          throw inUse(path, Number.parseInt(other, 10));
        }
        await rm(join(owners, other), { force: true });
      }
      ownedHere.add(path);
      return new DataDirectory(path, ownerFile);
    } catch (error) {
      throw unusableDirectory(wanted, error);
    }
  }

  get databaseFile(): string {
    return join(this.path, "store.sqlite");
  }

  async close(): Promise<void> {
    ownedHere.delete(this.path);
    await rm(this.ownerFile, { force: true });
  }
}

function inUse(path: string, pid: number): DataDirectoryError {
  return new DataDirectoryError(
    `The data directory ${path} is in use by process ${pid}. Stop that one, or choose another with --data-dir.`,
  );
}
