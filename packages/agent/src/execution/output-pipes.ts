import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { close, constants, open, unlink } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PrivateDirectory } from "../private-directory.js";

const openFile = promisify(open);
const closeFile = promisify(close);
const unlinkFile = promisify(unlink);

/** Absent from Node's constants: names a file without opening it. */
const O_PATH = 0o10000000;
const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A pipe, as descriptors: `write` is for a program, `read` for us. Whoever took it closes both. */
export interface OutputPipe {
  readonly read: number;
  readonly write: number;
  /** The pipe itself, through which it can be opened again. */
  readonly anchor: number;
}

/**
 * Real pipes for programs to write to. Node gives its children sockets, on which `echo > /dev/stderr` fails, and
 * cannot make a pipe; so some FIFOs are made once, opened, unlinked, and used again and again.
 */
export class OutputPipes {
  readonly #ready: OutputPipe[] = [];
  /** Pipes that exist, ready or in use. */
  #owned = 0;

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

  take(): OutputPipe | undefined {
    return this.#ready.pop();
  }

  /** Takes back a pipe whose writers have all gone; its `read` and `write` are closed. */
  giveBack(pipe: OutputPipe): void {
    this.#open(pipe.anchor).catch(() => this.discard(pipe));
  }

  /** Lets go of a pipe that somebody may go on writing to. */
  discard(pipe: OutputPipe): void {
    close(pipe.anchor);
    this.#owned -= 1;
    if (this.#owned === this.count / 2) void this.#make();
  }

  async #make(): Promise<void> {
    const missing = this.count - this.#owned;
    this.#owned = this.count;
    try {
      const parent = await this.directory.path();
      const paths = Array.from({ length: missing }, () => join(parent, `pipe-${randomUUID()}`));
      const [code] = await once(spawn("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" }), "exit");
      if (code === 0) await Promise.all(paths.map((path) => this.#adopt(path)));
    } catch {
      // No mkfifo, no process to run it, or a full disk: what is there has to do.
    }
  }

  async #adopt(path: string): Promise<void> {
    const anchor = await openFile(path, O_PATH);
    await unlinkFile(path);
    await this.#open(anchor);
  }

  async #open(anchor: number): Promise<void> {
    const path = `/proc/self/fd/${anchor}`;
    const read = await openFile(path, O_RDONLY | O_NONBLOCK);
    try {
      this.#ready.push({ anchor, read, write: await openFile(path, O_WRONLY) });
    } catch (error) {
      await closeFile(read);
      throw error;
    }
  }
}
