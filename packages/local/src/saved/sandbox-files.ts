import { link, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { Machine, MachineLimits } from "../runtime/sandbox-runtime.js";
import { LazyDirectory } from "../store/lazy-directory.js";

const mebibyte = 1024 * 1024;

/** The files of a sandbox in one tar, which is never unpacked on the host and never changes. */
export interface SavedFiles {
  readonly path: string;
  /** Whether it holds the machine's whole disk. If not, the agent has packed the writable directories, inside the machine. */
  readonly isDisk: boolean;
  /** Set for a disk of which machines get these directories only, each with its place: their agent unpacks them then. */
  readonly places?: Readonly<Record<string, string>>;
}

/** Saves the files of sandboxes, and keeps those of stopped ones. */
export class SandboxFiles {
  readonly #directory: LazyDirectory;

  constructor(
    /** Finds the directory of the tars, when it is first needed. */
    directory: () => Promise<string>,
    private readonly agents: AgentCalls,
  ) {
    this.#directory = new LazyDirectory(directory);
  }

  /** Ends the machine's processes and saves its files. They are on the host's disk when this resolves. */
  async save(machine: Machine, limits: MachineLimits, signal: AbortSignal): Promise<void> {
    const path = join(await this.#directory.ready(), machine.writeDisk ? diskOf(machine.id) : machine.id);
    await this.agents.endProcesses(machine, signal);
    await this.write(machine, path, limits, { signal, isLive: false });
  }

  /**
   * Writes the machine's files to a path, where they are complete, on the host's disk, when this resolves. A machine with a disk is
   * frozen for that: the disk must not change while it is read, and code may have replaced the agent. If it is live, it goes on as soon
   * as its disk has been read; else it stays frozen.
   */
  async write(
    machine: Machine,
    path: string,
    limits: MachineLimits,
    { signal, isLive }: { readonly signal: AbortSignal; readonly isLive: boolean },
  ): Promise<SavedFiles> {
    const partial = partialOf(path);
    const isDisk = machine.writeDisk !== undefined;
    const goesOn = isLive && isDisk && !machine.isPaused;
    const mostBytes = 3 * limits.diskMb * mebibyte + 64 * mebibyte;
    try {
      if (isDisk) await machine.pause();
      await rm(partial, { force: true });
      // Opened first: a stream that is ended while it opens its file would make the file after it was removed.
      await using file = await open(partial, "wx", 0o600);
      if (machine.writeDisk) {
        await machine.writeDisk({ descriptor: file.fd, mostBytes, signal });
        if (goesOn) await machine.resume();
        await file.sync();
      } else {
        const archive = await this.agents.takeFiles(machine, signal, isLive);
        await pipeline(archive, atMost(mostBytes), file.createWriteStream({ flush: true }), { signal });
      }
      await rename(partial, path);
      await sync(dirname(path));
    } finally {
      await rm(partial, { force: true });
      if (goesOn) await machine.resume();
    }
    return { path, isDisk };
  }

  /** The saved files of a stopped sandbox. */
  async of(id: string): Promise<SavedFiles> {
    const directory = await this.#directory.ready();
    const disk = join(directory, diskOf(id));
    const isDisk = await stat(disk).then(
      () => true,
      () => false,
    );
    return isDisk ? { path: disk, isDisk } : { path: join(directory, id), isDisk };
  }

  /** Gives the saved files of a stopped sandbox a second name. */
  async linkTo(id: string, path: string): Promise<SavedFiles> {
    const saved = await this.of(id);
    await link(saved.path, path);
    await sync(dirname(path));
    return { ...saved, path };
  }

  async remove(id: string): Promise<void> {
    const directory = await this.#directory.made;
    if (directory === undefined) return;
    for (const name of [id, diskOf(id)]) await rm(join(directory, name), { force: true });
  }

  /** Removes the files of all sandboxes except `ids`. Resolves with those of `ids` that have saved files. */
  async keepOnly(ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const directory = await this.#directory.ready();
    const owners = new Map([...ids].flatMap((id) => [id, diskOf(id)].map((name) => [name, id] as const)));
    const found = new Set<string>();
    for (const name of await readdir(directory)) {
      const owner = owners.get(name);
      if (owner === undefined) await rm(join(directory, name), { recursive: true, force: true });
      else found.add(owner);
    }
    return found;
  }
}

/** Whether machines begin with the files as their disk. */
export const isWholeDisk = ({ isDisk, places }: SavedFiles): boolean => isDisk && places === undefined;

const partialOf = (path: string): string => `${path}.partial`;

const diskOf = (id: string): string => `${id}.disk`;

/** Fails when more bytes arrive than a sandbox's disk can hold, because code in the sandbox may have replaced the sender. */
function atMost(limit: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > limit) done(new Error("the sandbox sent more bytes than its disk can hold."));
      else done(null, chunk);
    },
  });
}

/** Flushes a directory to the disk. A rename in it survives a crash only after that. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Why a sandbox that was stopped has failed. */
export const filesAreGone =
  "The files that were saved when the sandbox was stopped are no longer in the data directory.";
