import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { Machine, MachineLimits } from "../runtime/sandbox-runtime.js";

const mebibyte = 1024 * 1024;

/**
 * The files of stopped sandboxes, a tar each, never opened here. Where a machine has a disk it is all of that; where its
 * root is read-only it is what the agent finds in the directories that can be written, packed and unpacked inside.
 */
export class SandboxFiles {
  #made: Promise<string> | undefined;

  constructor(
    /** Where they are kept; asked for with the first. */
    private readonly directory: () => Promise<string>,
    private readonly agents: AgentCalls,
  ) {}

  /** Takes the files out of the machine, whose processes it ends. They are on the disk when this resolves. */
  async save(machine: Machine, limits: MachineLimits, signal: AbortSignal): Promise<void> {
    const directory = await this.#ready();
    const path = join(directory, machine.hasDisk ? diskOf(machine.id) : machine.id);
    const partial = `${path}.partial`;
    await this.agents.endProcesses(machine, signal);
    // The agent is left, and what the sandbox may have in its place.
    if (machine.hasDisk) await machine.pause();
    try {
      const archive = machine.hasDisk ? machine.readDisk() : await this.agents.takeFiles(machine, signal);
      const file = createWriteStream(partial, { mode: 0o600, flush: true });
      await pipeline(archive, atMost(3 * limits.diskMb * mebibyte + 64 * mebibyte), file, { signal });
      await rename(partial, path);
      await sync(directory);
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** The file to boot the sandbox's next machine with, where its last one had a disk. */
  async disk(id: string): Promise<string | undefined> {
    const path = join(await this.#ready(), diskOf(id));
    const status = await stat(path).catch(() => undefined);
    return status && path;
  }

  /** Unpacks what the agent packed in a fresh machine. */
  async restore(machine: Machine, signal: AbortSignal): Promise<void> {
    const archive = createReadStream(join(await this.#ready(), machine.id), { highWaterMark: mebibyte });
    await this.agents.putFiles(machine, archive, signal);
  }

  async remove(id: string): Promise<void> {
    if (this.#made === undefined) return;
    for (const name of [id, diskOf(id)]) await rm(join(await this.#made, name), { force: true });
  }

  /** Removes what belongs to none of these sandboxes; resolves with those that have files. */
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

  /** They go with a control plane that nothing outlives. */
  async removeAll(): Promise<void> {
    if (this.#made !== undefined) await rm(await this.#made, { recursive: true, force: true });
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

/** Fails when more comes than a sandbox can hold: what sends it is the sandbox. */
function atMost(limit: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > limit) done(new Error("Its files take more room than its disk has."));
      else done(null, chunk);
    },
  });
}

/** A rename lasts once its directory is on the disk. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
