import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { KeptOutput } from "@cloud-sandbox/server-kit/execution";

const run = promisify(execFile);
const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** How many pipes one `mkfifo` command makes, and how many are kept for reuse. */
const batch = 16;
const mostKept = 64;

/** A pipe that a program writes to. The caller that takes a pipe closes both ends. */
export interface ProgramPipe {
  readonly path: string;
  readonly read: number;
  readonly write: number;
}

/** Closes the ends that programs write to, once the program has them. Only the first call does something. */
export function closeWriteEnds(pipes: ProgramPipe[]): void {
  for (const { write } of pipes.splice(0)) closeSync(write);
}

/**
 * Pipes for programs to write to. Node connects its children with sockets, on which `echo > /dev/stderr` fails, and cannot
 * make pipes. So FIFOs are made once, in a directory that only this process's user may enter, and reused.
 */
export class ProgramPipes {
  readonly #ready: string[] = [];
  #making: Promise<void> | undefined;
  #hasFirst = false;

  constructor(
    private readonly directory: string,
    /** The first pipes, once they are made. */
    private readonly first: () => Promise<readonly string[]>,
  ) {}

  /** Makes a directory, and chooses the paths of the first pipes in it. */
  static plan(directory: string): readonly string[] {
    mkdirSync(directory, { mode: 0o700 });
    return newPaths(directory);
  }

  /** Makes pipes if there are none. */
  async prepare(): Promise<void> {
    if (this.#ready.length > 0) return;
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    await this.#making;
  }

  async take(): Promise<ProgramPipe> {
    for (let attempt = 0; ; attempt += 1) {
      const path = this.#ready.pop();
      if (path === undefined) {
        await this.prepare();
        continue;
      }
      try {
        return opened(path);
      } catch (error) {
        // The last program that used this pipe may have run as this process's user and changed the pipe's mode.
        await this.discard(path);
        if (attempt >= batch) throw error;
      }
    }
  }

  /** Returns a pipe that no process holds any more. */
  async giveBack(path: string): Promise<void> {
    if (this.#ready.length < mostKept) this.#ready.push(path);
    else await this.discard(path);
  }

  async discard(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  async #make(): Promise<void> {
    if (!this.#hasFirst) {
      this.#hasFirst = true;
      this.#ready.push(...(await this.first()));
      return;
    }
    const paths = newPaths(this.directory);
    // Mode 622, because programs of other uids open the writing end again, as `echo > /dev/stderr` does.
    await run("mkfifo", ["-m", "622", ...paths], { cwd: "/" });
    this.#ready.push(...paths);
  }
}

function newPaths(directory: string): string[] {
  return Array.from({ length: batch }, () => join(directory, `pipe-${randomBytes(8).toString("hex")}`));
}

function opened(path: string): ProgramPipe {
  const read = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    // Blocking, as programs expect of their outputs. The open reader keeps this call from waiting.
    return { path, read, write: openSync(path, O_WRONLY) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

/** Most bytes of each output that an answer contains, as through an agent. */
const outputLimit = 1024 * 1024;
/**
 * After this many bytes of an output, the server reads at most one chunk (64 KiB) in `paceMs`, because reading costs the
 * server more CPU than writing costs the program.
 */
const unpacedBytes = 4 * 1024 * 1024;
const paceMs = 2;

/** An output that makes its program wait when the program writes very much. */
export class PacedOutput extends KeptOutput {
  #hasPace = true;
  /** Ends the pause in reading. */
  #endPause: () => void = () => undefined;

  constructor() {
    super(outputLimit, undefined);
  }

  /** Ends all pauses. Small writes fill the stream's buffer with hundreds of chunks, and each would take `paceMs`. */
  override readRest(): void {
    this.#hasPace = false;
    this.#endPause();
    super.readRest();
  }

  override take(chunk: Buffer): Promise<void> | undefined {
    const waiting = super.take(chunk);
    if (waiting !== undefined || !this.#hasPace || this.bytes <= unpacedBytes) return waiting;
    return new Promise((resolve) => {
      const pause = setTimeout(resolve, paceMs);
      this.#endPause = () => {
        clearTimeout(pause);
        resolve();
      };
    });
  }
}
