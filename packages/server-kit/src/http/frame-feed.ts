/**
 * Milliseconds without a frame after which the server sends a sign of life, so that neither reader nor proxies give up.
 */
const silenceMs = 15_000;

/** How a stream of frames is written: each frame as text, and what is sent in a silence. */
export interface FrameFormat<Frame> {
  readonly type: string;
  readonly silence: string;
  write(frame: Frame): string;
}

/** Writes each frame as one line of JSON. The sign of life is an empty line. */
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

/** Hands frames on to one reader, at the reader's pace. */
export class FrameFeed<Frame extends object> {
  readonly #waiting: { readonly frame: Frame; readonly taken: () => void }[] = [];
  #wake: () => void = () => undefined;
  /** To be called when the reader has taken the frame that was handed out last. */
  #taken: () => void = () => undefined;
  #isOver = false;

  /** Resolves when the reader has taken the frame and asks for the next, or has left. */
  send(frame: Frame): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((taken) => {
      this.#waiting.push({ frame, taken });
      this.#wake();
    });
  }

  /** Ends the stream after the frames that were sent. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Drops the frames that were not taken: the reader has left. */
  abandon(): void {
    this.end();
    this.#taken();
    for (const { taken } of this.#waiting.splice(0)) taken();
  }

  /** The text of the stream. To be read once. */
  async *pieces({ silence, write }: FrameFormat<Frame>): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next) {
          this.#taken = next.taken;
          yield write(next.frame);
          next.taken();
        } else if (this.#isOver) return;
        else if (!(await this.#more())) yield silence;
      }
    } finally {
      this.abandon();
    }
  }

  /** Waits for a frame or the end; false if neither came for long. */
  async #more(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), silenceMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
