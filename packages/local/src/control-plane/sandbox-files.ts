import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Machine, MachineLimits } from "../runtime/sandbox-runtime.js";
import type { AgentCalls } from "./agent-calls.js";

const mebibyte = 1024 * 1024;

/** The files of stopped sandboxes, a tar each, made and unpacked inside the sandboxes and never opened here. */
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
    const path = join(directory, machine.id);
    const partial = `${path}.partial`;
    try {
      const archive = await this.agents.takeFiles(machine, signal);
      const file = createWriteStream(partial, { mode: 0o600, flush: true });
      await pipeline(archive, atMost(3 * limits.diskMb * mebibyte + 64 * mebibyte), file, { signal });
      await rename(partial, path);
      await sync(directory);
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Unpacks the files of the sandbox in a fresh machine. */
  async restore(machine: Machine, signal: AbortSignal): Promise<void> {
    const archive = createReadStream(join(await this.#ready(), machine.id), { highWaterMark: mebibyte });
    await this.agents.putFiles(machine, archive, signal);
  }

  async has(id: string): Promise<boolean> {
    const status = await stat(join(await this.#ready(), id)).catch(() => undefined);
    return status !== undefined;
  }

  async remove(id: string): Promise<void> {
    if (this.#made !== undefined) await rm(join(await this.#made, id), { force: true });
  }

  /** Removes what belongs to none of these sandboxes. */
  async keepOnly(ids: ReadonlySet<string>): Promise<void> {
    const directory = await this.#ready();
    for (const name of await readdir(directory))
      if (!ids.has(name)) await rm(join(directory, name), { force: true });
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
