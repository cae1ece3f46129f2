import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { Machine, MachineLimits } from "../runtime/sandbox-runtime.js";

const mebibyte = 1024 * 1024;

/**
 * Saves the files of stopped sandboxes, one tar each, which is never unpacked on the host. If the machine has a disk, the
 * tar holds the whole disk. If its root is read-only, the agent packs the writable directories, inside the machine.
 */
export class SandboxFiles {
  #made: Promise<string> | undefined;

  constructor(
    /** The directory of the tars; called once, when it is first needed. */
    private readonly directory: () => Promise<string>,
    private readonly agents: AgentCalls,
  ) {}

  /** Ends the machine's processes and saves its files. They are on the host's disk when this resolves. */
  async save(machine: Machine, limits: MachineLimits, signal: AbortSignal): Promise<void> {
    const directory = await this.#ready();
    const path = join(directory, machine.hasDisk ? diskOf(machine.id) : machine.id);
    const partial = `${path}.partial`;
    await this.agents.endProcesses(machine, signal);
    // Freeze the agent, or the program that replaced it, so that the disk does not change while it is read.
    if (machine.hasDisk) await machine.pause();
    try {
      // Opened first: a stream that is ended while it opens its file would make the file after it was removed.
      await using file = await open(partial, "w", 0o600);
      const archive = machine.hasDisk ? machine.readDisk() : await this.agents.takeFiles(machine, signal);
      const limit = atMost(3 * limits.diskMb * mebibyte + 64 * mebibyte);
      await pipeline(archive, limit, file.createWriteStream({ flush: true }), { signal });
      await rename(partial, path);
      await sync(directory);
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** The saved disk to boot the sandbox's next machine with; undefined if its last machine had no disk. */
  async disk(id: string): Promise<string | undefined> {
    const path = join(await this.#ready(), diskOf(id));
    const status = await stat(path).catch(() => undefined);
    return status && path;
  }

  /** Has the agent of a fresh machine unpack the saved files. */
  async restore(machine: Machine, signal: AbortSignal): Promise<void> {
    const archive = createReadStream(join(await this.#ready(), machine.id), { highWaterMark: mebibyte });
    await this.agents.putFiles(machine, archive, signal);
  }

  async remove(id: string): Promise<void> {
    if (this.#made === undefined) return;
    for (const name of [id, diskOf(id)]) await rm(join(await this.#made, name), { force: true });
  }

  /** Removes the files of all sandboxes except `ids`. Resolves with those of `ids` that have saved files. */
  async keepOnly(ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const directory = await this.#ready();
    const owners = new Map([...ids].flatMap((id) => [id, diskOf(id)].map((name) => [name, id] as const)));
    const found = new Set<string>();
    for (const name of await readdir(directory)) {
      const owner = owners.get(name);
      if (owner === undefined) await rm(join(directory, name), { recursive: true, force: true });
      else found.add(owner);
    }
    return found;
  }

  #ready(): Promise<string> {
    this.#made ??= this.directory().then(async (path) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      return path;
    });
    return this.#made;
  }
}

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
