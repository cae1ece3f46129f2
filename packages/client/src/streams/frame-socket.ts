import {
  InvalidResponseError,
  reportIt,
  type SandboxError,
  StreamClosedError,
  TimeoutError,
} from "../errors/errors.js";
import type { CallScope } from "../transport/calls/calls.js";
import type { OpenSocket, SocketListener } from "../transport/sockets/sockets.js";
import { jsonObject, type RawFrame } from "./frames.js";

export interface FrameSocketOptions {
  /** Address of the server, for error messages. */
  origin: string;
  /** Request id sent with the handshake. */
  requestId: string;
  /** Stops the stream, for example when the caller's signal fires. */
  scope: CallScope;
  /** Seconds without a sign of life after which the connection counts as lost. */
  idle: number;
  /**
   * Used in place of `idle` if the WebSocket implementation cannot ping: seconds for which the server may send no frame.
   */
  silence: number;
  /** Called when the stream has ended. */
  ended(): void;
  /** Called with an error that the stream's reader receives. */
  failed(error: SandboxError): void;
}

/** Characters waiting for the reader: above `highWater` the connection is paused, below `lowWater` it is resumed. */
const highWater = 1024 * 1024;
const lowWater = highWater / 4;
/** Characters at which the stream is closed, if the WebSocket implementation cannot be paused. */
const mostQueued = 64 * 1024 * 1024;
/** Close code for a connection that seems lost. Not 1000, which tells the server to end a terminal that could be resumed. */
const lostCode = 4000;
/** Seconds between two checks of the connection. Short, because servers drop clients that do not answer pings. */
const longestCheckInterval = 15;

/** The frames of one WebSocket, read one after the other. When it ends, the reader always gets a typed error. */
export class FrameSocket implements SocketListener {
  readonly #options: FrameSocketOptions;
  readonly #stop = (): void => this.#fail(this.#options.scope.failure ?? this.#closedEarly(1006, ""));
  #socket: OpenSocket | undefined;
  readonly #queue: string[] = [];
  #queued = 0;
  #isPaused = false;
  #failure: SandboxError | undefined;
  #wake: (() => void) | undefined;
  #checks: ReturnType<typeof setInterval> | undefined;
  #received = 0;
  #lastReceivedAt = performance.now();

  constructor(options: FrameSocketOptions) {
    this.#options = options;
  }

  /** Starts the checks of an opened connection, until it ends or `close` is called. */
  attach(socket: OpenSocket): void {
    const { idle, scope } = this.#options;
    this.#socket = socket;
    if (this.#failure !== undefined) {
      socket.close();
      return;
    }
    scope.addEventListener("abort", this.#stop);
    if (scope.aborted) {
      this.#stop();
      return;
    }
    this.#lastReceivedAt = performance.now();
    const seconds = Math.min(idle / 4, longestCheckInterval);
    this.#checks = setInterval(() => this.#check(socket), seconds * 1000);
  }

  readonly message = (text: string): void => {
    this.#lastReceivedAt = performance.now();
    if (this.#failure !== undefined || text.trim() === "") return;
    this.#queue.push(text);
    this.#queued += text.length;
    if (this.#queued > highWater) this.#hold();
    this.#wake?.();
  };

  readonly closed = (code: number, reason: string): void => {
    this.#fail(this.#closedEarly(code, reason));
  };

  /** Closes the connection from this side. */
  close(): void {
    this.closed(1000, "");
  }

  /** The next frame. Rejects if the connection has ended, so a reader never waits forever. */
  async next(): Promise<RawFrame> {
    while (this.#queue.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    // After an abort, frames that already arrived are dropped; after a close, they are still delivered.
    this.#options.scope.throwIfAborted();
    const text = this.#queue.shift() ?? "";
    this.#queued -= text.length;
    if (this.#isPaused && this.#queued < lowWater) this.#release();
    return this.#parsed(text);
  }

  /** Sends a frame. Does nothing if the connection has ended: the reader receives that error. */
  send(frame: object): void {
    if (this.#failure === undefined) this.#socket?.send(JSON.stringify(frame));
  }

  get requestId(): string {
    return this.#options.requestId;
  }

  report(error: SandboxError): void {
    this.#options.failed(error);
  }

  /** Waits until little unsent data is left. */
  async drained(): Promise<void> {
    while ((this.#socket?.buffered ?? 0) > highWater && this.#failure === undefined)
      await new Promise((resolve) => setTimeout(resolve, 10));
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(failure: SandboxError, closeCode?: number): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    clearInterval(this.#checks);
    this.#options.scope.removeEventListener("abort", this.#stop);
    this.#socket?.close(closeCode);
    this.#options.ended();
    this.#wake?.();
  }

  #hold(): void {
    this.#isPaused = true;
    if (this.#socket?.pause !== undefined) this.#socket.pause();
    else if (this.#queued > mostQueued) this.#fail(overrun());
  }

  #release(): void {
    this.#isPaused = false;
    this.#lastReceivedAt = performance.now();
    this.#socket?.resume?.();
  }

  #check(socket: OpenSocket): void {
    const now = performance.now();
    if (this.#isPaused && socket.pause !== undefined) {
      // Resume for a moment, so that the socket answers the server's pings.
      this.#lastReceivedAt = now;
      socket.resume?.();
      socket.pause();
      return;
    }
    const received = socket.pulse?.();
    if (received !== undefined && received !== this.#received) {
      this.#received = received;
      this.#lastReceivedAt = now;
    }
    const seconds = received === undefined ? this.#options.silence : this.#options.idle;
    if (now - this.#lastReceivedAt > seconds * 1000) this.#fail(this.#silent(seconds), lostCode);
  }

  #parsed(text: string): RawFrame {
    const frame = jsonObject(text);
    if (frame !== undefined) return frame;
    const error = new InvalidResponseError({
      summary: `${this.#options.origin} sent something over a stream that is not a valid frame.`,
      hint: reportIt,
      code: "INVALID_FRAME",
      requestId: this.#options.requestId,
    });
    this.#fail(error);
    throw error;
  }

  #silent(seconds: number): TimeoutError {
    return new TimeoutError({
      summary: `${this.#options.origin} gave no sign of life over a stream for ${seconds} s.`,
      hint: "The program may have ended, too. Allow more silence with timeouts.idleSeconds.",
      kind: "idle",
      code: "TIMEOUT",
      requestId: this.#options.requestId,
    });
  }

  #closedEarly(closeCode: number, reason: string): StreamClosedError {
    const why = closeCode === 1006 ? "the connection broke" : `code ${closeCode}${reason && `, ${reason}`}`;
    return new StreamClosedError({
      summary: `The stream from ${this.#options.origin} closed before its end (${why}).`,
      hint: "The program may have ended, too: look at its effects before starting it again.",
      code: "STREAM_CLOSED",
      requestId: this.#options.requestId,
      closeCode,
    });
  }
}

function overrun(): StreamClosedError {
  return new StreamClosedError({
    summary: "The stream was closed, because it was read too slowly.",
    hint: "Read faster, or write the output to a file and download it.",
    code: "STREAM_OVERRUN",
  });
}
