import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";

/** Milliseconds between two frames. */
const frameGap = 2;

export interface ChannelOptions {
  /** Milliseconds before the first frame. Default: 0. */
  readonly delay?: number;
  /** Milliseconds between two keep-alive pings. Default: 25 s. */
  readonly pingInterval?: number;
  /** Milliseconds without any pong or message after which the client counts as gone. Default: 60 s. */
  readonly deadAfter?: number;
}

/**
 * Sends frames over a WebSocket at the pace of the reader.
 *
 * Each frame is followed by a ping, and the next frame is sent only when that ping was answered. So at most one frame
 * is in flight, which bounds memory however slow the reader is. Nor do two frames arrive in one turn of the client's
 * event loop, so an iterator that listens for one frame at a time misses none.
 */
export class FrameChannel<Frame extends object> {
  readonly #closed = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #last: Promise<void>;
  #pings = 0;
  #heard = performance.now();
  #closeCode: number | undefined;

  constructor(
    private readonly socket: WebSocket,
    { delay = 0, pingInterval = 25_000, deadAfter = 60_000 }: ChannelOptions = {},
  ) {
    this.#last = delay > 0 ? sleep(delay) : Promise.resolve();
    socket.on("pong", () => this.#hear());
    socket.on("message", () => this.#hear());
    // An error is always followed by a "close" event, which is handled below.
    socket.on("error", () => undefined);
    socket.once("close", (code) => {
      this.#closeCode = code;
      clearInterval(this.#heartbeat);
      this.#closed.abort();
    });
    this.#heartbeat = setInterval(() => this.#beat(deadAfter), pingInterval).unref();
  }

  /** Aborts when the connection is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** How the connection was closed: 1006 if it broke. Undefined while it is open. */
  get closeCode(): number | undefined {
    return this.#closeCode;
  }

  /** Calls `take` with every text frame that arrives. Empty ones are skipped. */
  receive(take: (text: string) => void): void {
    this.socket.on("message", (data) => {
      const text = data.toString();
      if (text.trim() !== "") take(text);
    });
  }

  /** Stops reading from the client until `written` resolves. */
  pauseFor(written: Promise<void>): void {
    this.socket.pause();
    void written.then(() => {
      this.#hear();
      this.socket.resume();
    });
  }

  /** Sends a frame after all earlier ones. Resolves when the client has received it or the connection is closed. */
  send(frame: Frame): Promise<void> {
    this.#last = this.#last.then(() => this.#deliver(frame));
    return this.#last;
  }

  /** Waits so many milliseconds between the previous frame and the next. */
  pause(milliseconds: number): Promise<void> {
    this.#last = this.#last.then(() => sleep(milliseconds));
    return this.#last;
  }

  /** Closes the connection when all frames have arrived. */
  async finish(): Promise<void> {
    await this.#last;
    this.socket.close(1000);
  }

  async #deliver(frame: Frame): Promise<void> {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return;
    this.#pings += 1;
    const mark = String(this.#pings);
    const answered = new Promise<void>((resolve) => {
      const done = () => {
        socket.off("pong", onPong);
        this.closed.removeEventListener("abort", done);
        resolve();
      };
      const onPong = (data: Buffer) => {
        if (data.toString() === mark) done();
      };
      socket.on("pong", onPong);
      this.closed.addEventListener("abort", done);
    });
    socket.send(JSON.stringify(frame));
    socket.ping(mark);
    await answered;
    await sleep(frameGap);
  }

  #hear(): void {
    this.#heard = performance.now();
  }

  #beat(deadAfter: number): void {
    const { socket } = this;
    if (socket.isPaused) return;
    if (performance.now() - this.#heard > deadAfter) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  }
}
