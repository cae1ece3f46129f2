import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, fstatSync, lstatSync, openSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createPrivately, type PrivateDirectory } from "../../machine/private-directory.js";
import { programIdentity } from "../../machine/program-identity.js";
import { temporaryFileObstacle } from "../../machine/temporary-files.js";

/** Absent from Node's constants: names a file without opening it. */
const O_PATH = 0o10000000;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A pipe, as descriptors: `write` is for a program, `read` for us. Whoever took it closes both. */
export interface OutputPipe {
  readonly read: number;
  readonly write: number;
  /** The pipe itself, through which it can be opened again. */
  readonly anchor: number;
  /** Where it was made, for processes that were started before; the sandbox's programs may remove it. */
  readonly path: string;
}

/** With fewer ready, more are made. */
const lowWater = 4;
/** What is called mkfifo may be a program of the sandbox's, and never end; in milliseconds. */
const makeLimit = 5000;
/** Before it is tried again to make some, in milliseconds. */
const retryAfter = 10_000;

/**
 * Real pipes for programs to write to. Node gives its children sockets, on which `echo > /dev/stderr` fails, and
 * cannot make a pipe; so some FIFOs are made once, opened, and used again and again.
 *
 * Opening and closing a pipe never waits, and costs less than handing it to another thread would.
 */
export class OutputPipes {
  readonly #ready: OutputPipe[] = [];
  #nextMaking = 0;
  #making: Promise<void> | undefined;
  #obstacle = "";

  private constructor(
    private readonly directory: PrivateDirectory,
    private readonly count: number,
  ) {}

  /** Never fails: where no FIFO can be made, `take` finds none and callers use sockets. */
  static async create(directory: PrivateDirectory, count: number): Promise<OutputPipes> {
    const pipes = new OutputPipes(directory, count);
    await pipes.#make();
    return pipes;
  }

  /** Why none could be made the last time: what to put after a colon. */
  get obstacle(): string {
    return this.#obstacle;
  }

  take(): OutputPipe | undefined {
    const pipe = this.#ready.pop();
    if (this.#ready.length < lowWater) void this.#make();
    return pipe;
  }

  /** As `take`, one that is where its path says. When the temporary files were swept away, others are made. */
  async takeWithPath(): Promise<OutputPipe | undefined> {
    const pipe = this.take();
    if (pipe && isPipe(pipe.path)) return pipe;
    for (const lost of [...(pipe ? [pipe] : []), ...this.#ready.splice(0)]) this.#close(lost);
    await this.#make();
    return this.take();
  }

  /** Takes back a pipe whose `read` and `write` are closed, and that nobody else can write to. */
  giveBack(pipe: OutputPipe): void {
    try {
      if (this.#ready.length < this.count) this.#ready.push(open(pipe));
      else this.discard(pipe);
    } catch {
      this.discard(pipe);
    }
  }

  /** Lets go of a pipe that somebody may go on writing to. */
  discard({ anchor, path }: OutputPipe): void {
    closeSync(anchor);
    // What the sandbox's programs put in its place is theirs.
    if (isPipe(path)) rmSync(path, { force: true });
  }

  #close(pipe: OutputPipe): void {
    closeSync(pipe.read);
    closeSync(pipe.write);
    this.discard(pipe);
  }

  async #make(): Promise<void> {
    this.#making ??= this.#makeNow().finally(() => {
      this.#making = undefined;
    });
    await this.#making;
  }

  async #makeNow(): Promise<void> {
    if (performance.now() < this.#nextMaking) return;
    let pause = retryAfter;
    try {
      const parent = await this.directory.path();
      const paths = Array.from({ length: this.count }, () => join(parent, `pipe-${randomUUID()}`));
      const mkfifo = spawn("mkfifo", ["-m", "600", ...paths], {
        ...programIdentity(),
        stdio: "ignore",
        timeout: makeLimit,
        killSignal: "SIGKILL",
      });
      const [code]: unknown[] = await once(mkfifo, "exit");
      if (code === 0) {
        for (const path of paths) this.#adopt(path);
        pause = 0;
      } else {
        await tryFile(join(parent, `file-${randomUUID()}`));
        throw new Error(
          code === null ? "mkfifo was killed, or did not end" : `mkfifo ended with exit code ${code}`,
        );
      }
    } catch (error) {
      // What is there has to do.
      this.#obstacle = obstacleOf(error as NodeJS.ErrnoException);
    }
    this.#nextMaking = performance.now() + pause;
  }

  #adopt(path: string): void {
    const anchor = openSync(path, O_PATH | O_NOFOLLOW);
    try {
      // What is called mkfifo may be a program of the sandbox's.
      if (!fstatSync(anchor).isFIFO()) throw new Error("what is called mkfifo here makes no pipes");
      this.#ready.push(open({ anchor, path }));
    } catch (error) {
      closeSync(anchor);
      throw error;
    }
  }
}

function open({ anchor, path }: Pick<OutputPipe, "anchor" | "path">): OutputPipe {
  const link = `/proc/self/fd/${anchor}`;
  const read = openSync(link, O_RDONLY | O_NONBLOCK);
  try {
    return { anchor, path, read, write: openSync(link, O_WRONLY) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

/** Throws what keeps files from being made there. */
async function tryFile(path: string): Promise<void> {
  await (await createPrivately(path)).close();
  await rm(path, { force: true });
}

function obstacleOf(error: NodeJS.ErrnoException): string {
  const { code, message, syscall } = error;
  const isSpawn = syscall?.startsWith("spawn") ?? false;
  if (isSpawn && code === "ENOENT") return "there is no mkfifo on the search path";
  if (isSpawn && code === "EACCES") return "mkfifo may not be run";
  if (isSpawn) return "the limit of processes, open files or memory is reached";
  if (code === "ENOENT") return "mkfifo made none";
  return temporaryFileObstacle(error) ?? code ?? message;
}

function isPipe(path: string): boolean {
  try {
    return lstatSync(path).isFIFO();
  } catch {
    return false;
  }
}
