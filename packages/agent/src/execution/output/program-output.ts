import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { OutputText } from "@cloud-sandbox/server-kit/handlers";
import { CapturedOutput } from "./captured-output.js";
import type { KeptOutput } from "./kept-output.js";
import type { OutputPipes } from "./output-pipes.js";

/** For what is still in a pipe when something in the background keeps it open, in milliseconds. */
const drainGrace = 100;

/** Streams that outlived their program and are read to nowhere; when there are more, the oldest is closed. */
const maxOrphans = 64;
const orphans = new Set<Readable>();

/** One output of a program, from before it is started until nobody writes to it any more. */
export class ProgramOutput {
  #stream: Readable | undefined;
  #captured: CapturedOutput | undefined;
  #ended = false;

  constructor(
    private readonly pipes: OutputPipes,
    private readonly pipe = pipes.take(),
  ) {}

  /** What `spawn` connects the program to. */
  get stdio(): number | "pipe" {
    return this.pipe?.write ?? "pipe";
  }

  /** Where a process that was not started for it can open it for writing; `undefined` where no pipe could be made. */
  get path(): string | undefined {
    return this.pipe?.path;
  }

  /** Begins to read into `kept`. `socket` is what `spawn` made where there was no pipe. */
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
      // Without an end there may still be somebody who writes.
      if (stream.readableEnded) this.pipes.giveBack(pipe);
      else this.pipes.discard(pipe);
    });
  }

  /** The program could not be started. */
  abandon(): void {
    if (!this.pipe) return;
    closeSync(this.pipe.read);
    closeSync(this.pipe.write);
    this.pipes.giveBack(this.pipe);
  }

  /** The program has ended: what it wrote, without waiting for others that it left behind. */
  async finish(): Promise<OutputText> {
    const captured = this.#captured;
    if (!captured || !this.#stream) return { text: "", bytes: 0, truncated: false };
    await captured.written();
    if (!this.#ended) await within(drainGrace, captured.ended);
    if (!this.#ended) readToNowhere(this.#stream);
    return captured.finish();
  }
}

function within(milliseconds: number, done: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    // After a stall of this machine the time is over before anything was read.
    const timer = setTimeout(() => setImmediate(resolve), milliseconds);
    void done.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Whoever still writes in the background is neither blocked nor broken. */
function readToNowhere(stream: Readable): void {
  if (stream instanceof Socket) stream.unref();
  orphans.add(stream);
  const [oldest] = orphans;
  if (orphans.size <= maxOrphans || !oldest) return;
  orphans.delete(oldest);
  oldest.destroy();
}
