import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";

/** Between two frames, in milliseconds. */
const frameGap = 2;

export interface ChannelOptions {
  /** Before the first frame, in milliseconds. */
  readonly delay?: number;
  /** Between two pings of a connection that is idle, in milliseconds. */
  readonly pingInterval?: number;
  /** Whoever answers no ping for that long, in milliseconds, is gone. */
  readonly deadAfter?: number;
}

/**
 * Frames over a WebSocket, at the pace of whoever reads them.
 *
 * A frame follows when the ping behind the one before was answered. So never more than one is on its way, which bounds
 * memory whatever the reader does, and no two arrive in one turn of its event loop: iterators that listen for one frame
 * at a time lose none.
 */
export class FrameChannel<Frame extends object> {
  readonly #closed = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #last: Promise<void>;
  #pings = 0;
  #heard = performance.now();

  constructor(
    private readonly socket: WebSocket,
    { delay = 0, pingInterval = 25_000, deadAfter = 60_000 }: ChannelOptions = {},
  ) {
    this.#last = delay > 0 ? sleep(delay) : Promise.resolve();
    socket.on("pong", () => this.#hear());
    socket.on("message", () => this.#hear());
    // A close follows, with what there is to say about it.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearInterval(this.#heartbeat);
      this.#closed.abort();
    });
    this.#heartbeat = setInterval(() => this.#beat(deadAfter), pingInterval).unref();
  }

  /** Aborts when the connection has ended. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Calls `take` with every text that arrives; empty ones are skipped. */
  receive(take: (text: string) => void): void {
    this.socket.on("message", (data) => {
      const text = data.toString();
      if (text.trim() !== "") take(text);
    });
  }

  /** Reads nothing until `turn` resolves. */
  pauseFor(turn: Promise<void>): void {
    this.socket.pause();
    void turn.then(() => {
      this.#hear();
      this.socket.resume();
    });
  }

  /** Resolves when the frame has arrived, or nobody is there any more. Frames arrive in the order of the calls. */
  send(frame: Frame): Promise<void> {
    this.#last = this.#last.then(() => this.#deliver(frame));
    return this.#last;
  }

  /** Leaves so many milliseconds between the frame before and the next. */
  pause(milliseconds: number): Promise<void> {
    this.#last = this.#last.then(() => sleep(milliseconds));
    return this.#last;
  }

  /** Ends the connection when everything has arrived. */
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
