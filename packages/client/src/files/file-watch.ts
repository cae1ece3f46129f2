import type { WatchFrame } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { TimeoutError } from "../errors/errors.js";
import { watchFrames } from "../streams/frame-fields.js";
import { FrameStream } from "../streams/frame-stream.js";
import { OnceRead } from "../streams/once-read.js";
import { date } from "../transport/answers/date.js";

/** Something that happened to a file or a directory. */
export interface FileChange {
  event: "created" | "modified" | "deleted" | "renamed";
  path: string;
  /** Of what was renamed: its path before, where the server says. */
  oldPath: string | undefined;
  /** By the server's clock. */
  timestamp: Date | undefined;
}

/** How a directory is watched. */
export interface WatchOptions {
  /** Ends the watching. */
  signal?: AbortSignal | undefined;
}

/**
 * Changes of a directory and of those below it. It begins with the first use, and is read once, with `for await`; leaving
 * the loop, `close()` and the signal end it. It never ends by itself: a connection that breaks, and changes that were
 * missed, are errors.
 */
export class FileWatch implements AsyncIterable<FileChange>, AsyncDisposable {
  readonly #frames: FrameStream<WatchFrame>;
  readonly #reading: OnceRead<FileChange, never>;
  readonly #readyTimeout: number;
  readonly #early: FileChange[] = [];
  #isReady: Promise<void> | undefined;

  /** @internal */
  static of(access: AgentAccess, path: string, options: WatchOptions, readyTimeout: number): FileWatch {
    return new FileWatch(access, path, options, readyTimeout);
  }

  private constructor(access: AgentAccess, path: string, { signal }: WatchOptions, readyTimeout: number) {
    this.#readyTimeout = readyTimeout;
    this.#frames = new FrameStream({
      access,
      path: "/files/watch",
      first: { action: "watch", path, ready: true },
      fields: watchFrames,
      // Nothing may happen for as long as it likes.
      silence: Number.POSITIVE_INFINITY,
      signal,
    });
    this.#reading = new OnceRead(
      () => this.#changes(),
      (error) => this.#frames.report(error),
    );
  }

  /**
   * Resolves when it has begun: nothing that happens from then on is missed. Rejects when the path cannot be watched, and
   * with a `TimeoutError` when the server does not say so within `timeouts.requestSeconds`: some never do.
   */
  ready(): Promise<void> {
    this.#isReady ??= this.#untilReady();
    return this.#isReady;
  }

  /** Each change once, in order. */
  [Symbol.asyncIterator](): AsyncGenerator<FileChange, void, void> {
    return this.#reading.iterate();
  }

  /** Ends it. */
  close(): void {
    this.#frames.close();
  }

  /** As `close`, at the end of the scope of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #untilReady(): Promise<void> {
    const timer = setTimeout(
      () => this.#frames.close(notReady(this.#readyTimeout)),
      this.#readyTimeout * 1000,
    );
    try {
      for (;;) {
        const change = await this.#next();
        if (change === undefined) return;
        this.#early.push(change);
      }
    } catch (error) {
      this.#frames.report(error);
      this.#frames.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async *#changes(): AsyncGenerator<FileChange, never, void> {
    try {
      // Two readers would take each other's frames.
      await this.#isReady;
      yield* this.#early.splice(0);
      for (;;) {
        const change = await this.#next();
        if (change !== undefined) yield change;
      }
    } finally {
      this.#frames.close();
    }
  }

  /** Undefined for the frame that says that watching has begun. */
  async #next(): Promise<FileChange | undefined> {
    const frame = await this.#frames.next();
    if (frame.type === "error") throw this.#frames.error(frame);
    if (frame.type === "ready") return undefined;
    const { event, old_path: oldPath, path, timestamp } = frame;
    return { event, path, oldPath, timestamp: date(timestamp) };
  }
}

function notReady(seconds: number): TimeoutError {
  return new TimeoutError({
    summary: `The server did not say within ${seconds} s that watching has begun.`,
    hint: "Some servers never do: read the changes without waiting for ready().",
    kind: "request",
    code: "TIMEOUT",
  });
}
