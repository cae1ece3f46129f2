import type { WatchFrame } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { checkKnown } from "../config/options.js";
import { invalidArgument, TimeoutError } from "../errors/errors.js";
import { FrameStream } from "../streams/frame-stream.js";
import { watchFrames } from "../streams/frames.js";
import { OnceRead } from "../streams/once-read.js";
import { date } from "../transport/answer-fields.js";

/** A change of a file or directory. */
export interface FileChange {
  event: "created" | "modified" | "deleted" | "renamed";
  path: string;
  /** The previous path of a renamed entry, if the server says. */
  oldPath: string | undefined;
  /** When the change happened, by the server's clock. */
  timestamp: Date | undefined;
}

/** Options of `files.watch`. */
export interface WatchOptions {
  /** Ends the watch. */
  signal?: AbortSignal | undefined;
}

/**
 * A stream of changes in a directory and the directories below it. The first use starts the watch. It can be read only
 * once, with `for await`; leaving the loop, `close()` and the signal end it. It never ends without an error otherwise: a
 * broken connection and missed changes throw.
 */
export class FileWatch implements AsyncIterable<FileChange>, AsyncDisposable {
  readonly #frames: FrameStream<WatchFrame>;
  readonly #reading: OnceRead<FileChange, never>;
  readonly #path: string;
  readonly #options: WatchOptions;
  readonly #readyTimeout: number;
  readonly #early: FileChange[] = [];
  #isReady: Promise<void> | undefined;

  /** @internal */
  static of(access: AgentAccess, path: string, options: WatchOptions, readyTimeout: number): FileWatch {
    return new FileWatch(access, path, options, readyTimeout);
  }

  private constructor(access: AgentAccess, path: string, options: WatchOptions, readyTimeout: number) {
    this.#path = path;
    this.#options = options;
    this.#readyTimeout = readyTimeout;
    this.#frames = new FrameStream({
      access,
      path: "/files/watch",
      first: { action: "watch", path, ready: true },
      fields: watchFrames,
      // No limit: a directory may stay unchanged for any time.
      silence: Number.POSITIVE_INFINITY,
      signal: options?.signal,
    });
    this.#reading = new OnceRead(
      () => this.#changes(),
      (error) => this.#frames.report(error),
    );
  }

  /**
   * Resolves when the watch has started: later changes are not missed. Rejects if the path cannot be watched, and with a
   * `TimeoutError` if the server does not confirm within `timeouts.requestSeconds`; some servers never confirm.
   */
  ready(): Promise<void> {
    this.#isReady ??= this.#untilReady();
    return this.#isReady;
  }

  /** Yields each change once, in order. */
  [Symbol.asyncIterator](): AsyncGenerator<FileChange, void, void> {
    return this.#reading.iterate();
  }

  /** Ends the watch. */
  close(): void {
    this.#frames.close();
  }

  /** Same as `close()`, at the end of the scope of `await using`. */
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
      // Wait for `ready()` to finish reading: two concurrent readers would take each other's frames.
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

  /** The next change, or undefined for the frame that confirms that the watch has started. */
  async #next(): Promise<FileChange | undefined> {
    checkWatch(this.#path, this.#options);
    const frame = await this.#frames.next();
    if (frame.type === "error") throw this.#frames.error(frame);
    if (frame.type === "ready") return undefined;
    const { event, old_path: oldPath, path, timestamp } = frame;
    return { event, path, oldPath, timestamp: date(timestamp) };
  }
}

function checkWatch(path: unknown, options: WatchOptions): void {
  checkKnown("files.watch", options, { signal: true });
  if (typeof path === "string" && path !== "" && path.length <= 4096) return;
  throw invalidArgument("path must be text of 1 to 4,096 characters.");
}

function notReady(seconds: number): TimeoutError {
  return new TimeoutError({
    summary: `The server did not say within ${seconds} s that watching has begun.`,
    hint: "Some servers never report that a watch is ready: read the changes without calling ready().",
    kind: "request",
    code: "TIMEOUT",
  });
}
