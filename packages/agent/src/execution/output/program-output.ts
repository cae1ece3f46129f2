import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { CapturedOutput, type KeptOutput } from "@cloud-sandbox/server-kit/execution";
import type { OutputText } from "@cloud-sandbox/server-kit/handlers";
import type { OutputPipes } from "./output-pipes.js";

/** Milliseconds to keep reading after a program has ended, if a background process keeps its pipe open. */
const drainGrace = 100;

/**
 * Most streams that are kept open, and read without using the data, after their program ended. Above that the oldest
 * is closed.
 */
const maxOrphans = 64;
const orphans = new Set<Readable>();

/** One output stream of a program, from before the program starts until no process writes to the stream any more. */
export class ProgramOutput {
  #stream: Readable | undefined;
  #captured: CapturedOutput | undefined;
  #ended = false;

  constructor(
    private readonly pipes: OutputPipes,
    private readonly pipe = pipes.take(),
  ) {}

  /** The `stdio` option for `spawn`: the pipe's descriptor, or "pipe" (a socket) if there is no pipe. */
  get stdio(): number | "pipe" {
    return this.pipe?.write ?? "pipe";
  }

  /**
   * Path at which a process that already runs can open the pipe for writing; `undefined` if no pipe could be made.
   */
  get path(): string | undefined {
    return this.pipe?.path;
  }

  /** Starts to read into `kept`. `socket` is the stream that `spawn` made, used if there is no pipe. */
  start(socket: Readable | null, kept: KeptOutput): void {
    const pipe = this.pipe;
    const stream = pipe ? new Socket({ fd: pipe.read, readable: true, writable: false }) : socket;
    if (pipe) closeSync(pipe.write);
    if (!stream) return;
    this.#stream = stream;
    this.#captured = new CapturedOutput(stream, kept);
    void this.#captured.ended.then(() => {
      this.#ended = true;
      orphans.delete(stream);
      if (!pipe) return;
      // If the stream did not reach its end, some process may still write to the pipe: do not reuse it.
      if (stream.readableEnded) this.pipes.giveBack(pipe);
      else this.pipes.discard(pipe);
    });
  }

  /** Releases the pipe of a program that could not be started. */
  abandon(): void {
    if (!this.pipe) return;
    closeSync(this.pipe.read);
    closeSync(this.pipe.write);
    this.pipes.giveBack(this.pipe);
  }

  /** Returns the output of a program that has ended, without waiting for background processes that it left. */
  async finish(): Promise<OutputText> {
    const captured = this.#captured;
    if (!captured || !this.#stream) return { text: "", bytes: 0, truncated: false };
    captured.readRest();
    await captured.written();
    if (!this.#ended) await within(drainGrace, captured.ended);
    if (!this.#ended) readToNowhere(this.#stream);
    return captured.finish();
  }
}

function within(milliseconds: number, done: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    // After the machine stalled, the timer may fire before any pending output was read; `setImmediate` lets it be
    // read first.
    const timer = setTimeout(() => setImmediate(resolve), milliseconds);
    void done.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Keeps reading and dropping the stream, so that a background process that still writes is neither blocked nor killed
 * by SIGPIPE.
 */
function readToNowhere(stream: Readable): void {
  if (stream instanceof Socket) stream.unref();
  orphans.add(stream);
  const [oldest] = orphans;
  if (orphans.size <= maxOrphans || !oldest) return;
  orphans.delete(oldest);
  oldest.destroy();
}
