import { randomBytes } from "node:crypto";
import { readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "@cloud-sandbox/server-kit";
import { snapshotNameTaken, snapshotNotFound } from "@cloud-sandbox/server-kit/handlers";
import { LazyDirectory } from "../store/lazy-directory.js";
import type { PendingWrites } from "../store/pending-writes.js";
import type { ServerDirectories } from "../store/server-directories.js";
import { type Snapshot, SnapshotRepository } from "../store/snapshot-repository.js";
import { isUnwritable, storageFull } from "../store/storage-problem.js";
import type { Store } from "../store/store.js";
import { diskContents } from "./disk-contents.js";
import type { SavedFiles } from "./sandbox-files.js";

/** The share of the disk that snapshots leave free. */
const freeShare = 0.1;

interface SnapshotsParts {
  /** Finds the directory of the files, when it is first needed. */
  readonly directory: () => Promise<string>;
  /** Undefined if snapshots end with this process. */
  readonly repository: SnapshotRepository | undefined;
  readonly writes: PendingWrites;
  /** Why this server has no place for files of sandboxes. Undefined if it has one. */
  readonly lack: string | undefined;
  /** The name of the runtime of this server. */
  readonly runtime: string;
  /** Most snapshots of an API key. */
  readonly mostOfKey: number;
}

/** What is known of a snapshot before its files are saved. */
type NewSnapshot = Pick<Snapshot, "keyId" | "metadata" | "name" | "sandboxId" | "template">;

/** The files of a sandbox, and what belongs to them. */
export interface KeptFiles extends SavedFiles, Pick<Snapshot, "secretNames"> {
  /** Whether the sandbox did not change while they were read. */
  readonly stoodStill: boolean;
}

type Save = (path: string) => Promise<KeptFiles>;

/** Files of sandboxes as they were at one moment, each in a tar of its own, which is never unpacked on the host and never changes. */
export class Snapshots {
  readonly #all = new Map<string, Snapshot>();
  /** Those that are being taken. */
  readonly #taking = new Set<Pick<Snapshot, "keyId" | "name">>();
  /** How many machines are being started with the files, by path. */
  readonly #uses = new Map<string, number>();
  readonly #directory: LazyDirectory;

  constructor(private readonly parts: SnapshotsParts) {
    this.#directory = new LazyDirectory(parts.directory);
  }

  /** Why there are none, in a sentence. */
  get lack(): string | undefined {
    const { lack } = this.parts;
    return lack === undefined ? undefined : `There are no snapshots here: ${lack}.`;
  }

  /** Loads the snapshots of the previous server, and removes files that it did not record. */
  async restore(): Promise<void> {
    const directory = await this.#directory.ready();
    const files = await readdir(directory);
    for (const snapshot of this.parts.repository?.list() ?? []) {
      if (files.includes(snapshot.id)) this.#all.set(snapshot.id, snapshot);
      else this.#forget(snapshot.id);
    }
    for (const name of files) if (!this.#all.has(name)) await rm(join(directory, name), { force: true });
  }

  /** The snapshots that an API key sees: its own. The server's own key, undefined, sees all. */
  list(keyId?: string): readonly Snapshot[] {
    const all = [...this.#all.values()];
    return keyId === undefined ? all : all.filter((snapshot) => snapshot.keyId === keyId);
  }

  /** The snapshot with this id or name. Throws the 404 problem if the API key sees none. */
  get(idOrName: string, keyId: string | undefined): Snapshot {
    const seen = this.list(keyId);
    const found =
      seen.find(({ name, keyId: of }) => name === idOrName && of === keyId) ??
      seen.find(({ id }) => id === idOrName);
    if (!found) throw snapshotNotFound(idOrName);
    return found;
  }

  /** Takes a snapshot, whose files `save` writes to a path. */
  async take(wanted: NewSnapshot, save: Save): Promise<Snapshot> {
    const { mostOfKey, repository, runtime } = this.parts;
    const { name, keyId } = wanted;
    this.#requirePlace();
    const ofKey = [...this.#all.values(), ...this.#taking].filter((snapshot) => snapshot.keyId === keyId);
    if (name !== undefined && ofKey.some((snapshot) => snapshot.name === name)) throw snapshotNameTaken(name);
    if (ofKey.length >= mostOfKey) throw tooMany(mostOfKey);
    this.#taking.add(wanted);
    const id = `snap_${randomBytes(8).toString("hex")}`;
    try {
      return await this.#saved(id, save, async ({ path, isDisk, secretNames, stoodStill: isConsistent }) => {
        const { size: sizeBytes } = await stat(path);
        const found = { sizeBytes, createdAt: new Date(), isDisk, isConsistent, runtime, secretNames };
        const snapshot = { ...wanted, ...found, id };
        repository?.add(snapshot);
        this.#all.set(id, snapshot);
        return snapshot;
      });
    } finally {
      this.#taking.delete(wanted);
    }
  }

  /** Saves files for `use` alone. */
  async passing<Result>(save: Save, use: (saved: KeptFiles) => Promise<Result>): Promise<Result> {
    this.#requirePlace();
    const name = `fork_${randomBytes(8).toString("hex")}`;
    return this.#saved(name, save, async (saved) => {
      const result = await use(saved);
      await rm(saved.path, { force: true });
      return result;
    });
  }

  /** Whether a snapshot was taken with another runtime than that of this server. */
  isOfOtherRuntime({ runtime }: Snapshot): boolean {
    return runtime !== this.parts.runtime;
  }

  /** The files of a snapshot, as machines that had them begin with them again. Throws a 409 problem if those of this server cannot. */
  async wholeFilesOf(snapshot: Snapshot): Promise<SavedFiles> {
    const { id, isDisk } = snapshot;
    if (isDisk && this.isOfOtherRuntime(snapshot))
      throw this.#otherDisk(
        snapshot,
        "Start the server with that runtime, or create a sandbox from the snapshot.",
      );
    return { path: join(await this.#directory.ready(), id), isDisk };
  }

  /**
   * The files of a snapshot for a new machine. Without `filesOnly`, throws a 409 problem if machines of this server cannot have all that
   * its sandbox had changed.
   */
  async filesOf(snapshot: Snapshot, filesOnly: boolean): Promise<SavedFiles> {
    const { id, isDisk } = snapshot;
    if (!isDisk || !(filesOnly || this.isOfOtherRuntime(snapshot))) return this.wholeFilesOf(snapshot);
    const path = join(await this.#directory.ready(), id);
    const { places, systemFiles, named } = await diskContents(path);
    if (systemFiles === 0 || filesOnly) return { path, isDisk, places };
    const others = systemFiles > named.length ? `, and ${systemFiles - named.length} more` : "";
    throw this.#otherDisk(
      snapshot,
      `Leave out what was changed outside of /workspace, /tmp and the home directory with files_only: ${named.join(", ")}${others}. Or start the server with the runtime ${snapshot.runtime}.`,
    );
  }

  #otherDisk({ id, runtime }: Snapshot, hint: string): Problem {
    const message = `Snapshot ${id} is a whole disk of the runtime ${runtime}, and this server has ${this.parts.runtime}.`;
    return new Problem(409, "CONFLICT", message, { hint });
  }

  /** Keeps files, also if their snapshot is deleted, until the returned function is called. */
  hold({ path }: SavedFiles): () => void {
    this.#uses.set(path, (this.#uses.get(path) ?? 0) + 1);
    return () => {
      const left = (this.#uses.get(path) ?? 1) - 1;
      if (left > 0) this.#uses.set(path, left);
      else this.#uses.delete(path);
      void this.#removeUnused(path);
    };
  }

  /** Deletes a snapshot, also on a disk that is full: then its record goes when there is room. */
  async delete({ id }: Snapshot): Promise<void> {
    this.#all.delete(id);
    this.#forget(id);
    await this.#removeUnused(join(await this.#directory.ready(), id));
  }

  #forget(id: string): void {
    const { repository, writes } = this.parts;
    if (repository) writes.ensure(`snapshot ${id}`, () => repository.remove(id));
  }

  /** Removes the files of a snapshot that is deleted, unless a machine is being started with them. The next server removes what stays. */
  async #removeUnused(path: string): Promise<void> {
    const directory = await this.#directory.ready();
    const isKept = this.#uses.has(path) || [...this.#all.keys()].some((id) => join(directory, id) === path);
    if (!isKept) await rm(path, { force: true }).catch(() => undefined);
  }

  /** Saves files under a name, and removes them if `use` fails. */
  async #saved<Result>(
    name: string,
    save: Save,
    use: (saved: KeptFiles) => Promise<Result>,
  ): Promise<Result> {
    const directory = await this.#directory.ready();
    const { bavail, blocks } = await statfs(directory);
    if (bavail < freeShare * blocks) throw noSpace();
    const path = join(directory, name);
    try {
      return await use(await save(path));
    } catch (error) {
      await rm(path, { force: true });
      throw isUnwritable(error) ? storageFull(error) : error;
    }
  }

  #requirePlace(): void {
    if (this.lack === undefined) return;
    throw new Problem(409, "CONFLICT", this.lack, { hint: "Use a server with a data directory." });
  }
}

/** The snapshots of a server. With a data directory, those of the last server are loaded by {@link Snapshots.restore}. */
export async function openSnapshots({
  store,
  directories,
  ...parts
}: Pick<SnapshotsParts, "lack" | "mostOfKey" | "runtime"> & {
  readonly store: Store;
  readonly directories: ServerDirectories;
}): Promise<Snapshots> {
  const isKept = store.directory !== undefined;
  return new Snapshots({
    ...parts,
    directory: () => directories.kept("snapshots"),
    writes: store.writes,
    repository: isKept ? new SnapshotRepository(await store.database()) : undefined,
  });
}

const noSpace = (): Problem =>
  new Problem(507, "STORAGE_FULL", "Less than a tenth of the disk of this server's data is free.", {
    hint: "Free some disk space there, or delete snapshots, stopped sandboxes and templates that are no longer needed.",
  });

const tooMany = (limit: number): Problem =>
  new Problem(429, "RESOURCE_LIMIT_ERROR", `An API key may have at most ${limit} snapshots.`, {
    hint: "Delete a snapshot first, or raise the limit with --max-snapshots.",
    details: { limit, current: limit, available: 0 },
  });
