import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, fstatSync, lstatSync, openSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createPrivately, type PrivateDirectory } from "../../machine/private-directory.js";
import { asProgram } from "../../machine/program-identity.js";
import { temporaryFileObstacle } from "../../machine/temporary-files.js";

/** Linux's O_PATH, which Node's constants lack: gets a handle of a file without opening it. */
const O_PATH = 0o10000000;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A pipe as file descriptors: `write` is for the program, `read` for the agent. The caller that takes a pipe closes both. */
export interface OutputPipe {
  readonly read: number;
  readonly write: number;
  /** An O_PATH descriptor of the pipe. The pipe is reopened through it for its next use. */
  readonly anchor: number;
  /**
   * Path of the FIFO, for interpreters that are already running and have to open it. Programs in the sandbox may
   * delete it.
   */
  readonly path: string;
}

/** If fewer pipes than this are ready, more are made. */
const lowWater = 4;
/** Milliseconds after which mkfifo is killed: the command may be a program of the sandbox's that never ends. */
const makeLimit = 5000;
/**
 * Least milliseconds to wait after a failure before pipes are made again. An attempt that took longer than half of that
 * is followed by a pause of twice its duration, because every execution waits for the attempt.
 */
const shortestPause = 1000;

/**
 * A pool of real pipes for programs to write to. Node connects its children with sockets, on which `echo >
 * /dev/stderr` fails, and Node cannot create pipes. So FIFOs are made with mkfifo once, opened, and reused.
 *
 * Pipes are opened and closed synchronously: that never blocks and costs less than handing it to another thread.
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

  /**
   * Creates the pool with `count` pipes. Never fails: if no FIFO can be made, `take` returns nothing and callers use
   * sockets.
   */
  static async create(directory: PrivateDirectory, count: number): Promise<OutputPipes> {
    const pipes = new OutputPipes(directory, count);
    await pipes.#make();
    return pipes;
  }

  /** Why the last attempt to make pipes failed, as text to put after a colon. */
  get obstacle(): string {
    return this.#obstacle;
  }

  take(): OutputPipe | undefined {
    const pipe = this.#ready.pop();
    if (this.#ready.length < lowWater) void this.#make();
    return pipe;
  }

  /** Takes a pipe whose FIFO certainly exists at its path. If the temporary files were deleted, new pipes are made. */
  async takeWithPath(): Promise<OutputPipe | undefined> {
    const pipe = this.take();
    if (pipe && isPipe(pipe.path)) return pipe;
    for (const lost of [...(pipe ? [pipe] : []), ...this.#ready.splice(0)]) this.#close(lost);
    await this.#make();
    return this.take();
  }

  /** Returns a pipe to the pool. Its `read` and `write` must be closed, and no process may still write to it. */
  giveBack(pipe: OutputPipe): void {
    try {
      if (this.#ready.length < this.count) this.#ready.push(open(pipe));
      else this.discard(pipe);
    } catch {
      this.discard(pipe);
    }
  }

  /** Drops a pipe that some process may still write to. */
  discard({ anchor, path }: OutputPipe): void {
    closeSync(anchor);
    // If a program in the sandbox has put something else at this path, leave it.
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
    const started = performance.now();
    try {
      const parent = await this.directory.path();
      const paths = Array.from({ length: this.count }, () => join(parent, `pipe-${randomUUID()}`));
      const { file, args, identity } = asProgram("mkfifo", ["-m", "600", ...paths]);
      const mkfifo = spawn(file, args, {
        ...identity,
        stdio: "ignore",
        timeout: makeLimit,
        killSignal: "SIGKILL",
      });
      const [code]: unknown[] = await once(mkfifo, "exit");
      if (code === 0) {
        for (const path of paths) this.#adopt(path);
        return;
      }
      await tryFile(join(parent, `file-${randomUUID()}`));
      throw new Error(
        code === null ? "mkfifo was killed, or did not end" : `mkfifo ended with exit code ${code}`,
      );
    } catch (error) {
      // No pipes could be made: continue with those that are ready.
      this.#obstacle = obstacleOf(error as NodeJS.ErrnoException);
      const ended = performance.now();
      this.#nextMaking = ended + Math.max(shortestPause, 2 * (ended - started));
    }
  }

  #adopt(path: string): void {
    const anchor = openSync(path, O_PATH | O_NOFOLLOW);
    try {
      // mkfifo may be a program of the sandbox's that does something else, so check the result.
      if (!fstatSync(anchor).isFIFO())
        throw new Error("the program mkfifo of this sandbox does not make pipes");
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

/** Creates and deletes a file, to get the error that keeps files from being made there. */
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
