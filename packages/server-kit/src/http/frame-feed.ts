/**
 * Milliseconds without a frame after which the server sends a keep-alive, so that neither readers nor proxies close the
 * connection.
 */
const silenceMs = 15_000;

/** Writes a stream of frames: `write` makes text of a frame, and `silence` is the keep-alive. */
export interface FrameFormat<Frame> {
  readonly type: string;
  readonly silence: string;
  write(frame: Frame): string;
}

/** Writes each frame as one line of JSON. The keep-alive is an empty line. */
export const jsonLines: FrameFormat<object> = {
  type: "application/x-ndjson",
  silence: "\n",
  write: (frame) => `${JSON.stringify(frame)}\n`,
};

/** Server-sent events, named by the frames' types. */
export const serverSentEvents: FrameFormat<{ readonly type: string }> = {
  type: "text/event-stream; charset=utf-8",
  silence: ": silence\n\n",
  write: (frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`,
};

/** A queue of frames for one reader, who takes them at its own pace. */
export class FrameFeed<Frame extends object> {
  readonly #waiting: { readonly frame: Frame; readonly onTaken: () => void }[] = [];
  #wake: () => void = () => undefined;
  /** Resolves `send` of the frame that was yielded last. */
  #onTaken: () => void = () => undefined;
  #isOver = false;

  /** Queues a frame. Resolves when the reader has taken it and asks for the next, or has disconnected. */
  send(frame: Frame): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((onTaken) => {
      this.#waiting.push({ frame, onTaken });
      this.#wake();
    });
  }

  /** Ends the stream after the queued frames. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Drops the queued frames. Called when the reader has disconnected. */
  abandon(): void {
    this.end();
    this.#onTaken();
    for (const { onTaken } of this.#waiting.splice(0)) onTaken();
  }

  /** Yields the stream as text. May be called only once. */
  async *pieces({ silence, write }: FrameFormat<Frame>): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next) {
          this.#onTaken = next.onTaken;
          yield write(next.frame);
          next.onTaken();
        } else if (this.#isOver) return;
        else if (!(await this.#nextFrame())) yield silence;
      }
    } finally {
      this.abandon();
    }
  }

  /** Waits for a frame or the end. False if neither came within `silenceMs`. */
  async #nextFrame(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), silenceMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
