import type { TerminalFrame } from "@cloud-sandbox/protocol";
import { NetworkError, type SandboxError, StreamClosedError, TimeoutError } from "../errors/errors.js";
import type { FrameSocket } from "./frame-socket.js";
import { closedByReader, FrameStream, type StreamOpener } from "./frame-stream.js";
import { terminalFrames } from "./frames.js";

/** Size of a terminal, in characters. */
export interface TerminalSize {
  /** Columns, 1 to 1000. */
  cols: number;
  /** Rows, 1 to 1000. */
  rows: number;
}

/** Functions that are called when the connection of a resumable terminal is lost and restored. */
export interface TerminalReconnection {
  /** Called when the connection is lost, before the client tries to connect again. */
  onLost?(error: SandboxError): void;
  /**
   * Called when the terminal is connected again. `skippedBytes`: bytes of output that the shell wrote meanwhile and the
   * server no longer has. A full-screen program redraws its screen when the terminal's size changes.
   */
  onReconnect?(event: { skippedBytes: number }): void;
}

interface TerminalConnectionOptions {
  access: StreamOpener;
  size: TerminalSize;
  shell: string | undefined;
  signal: AbortSignal | undefined;
  resumable: boolean | TerminalReconnection;
}

interface InputFrame {
  readonly type: "input";
  readonly data: string;
  readonly number: number;
}

type AttachedFrame = Extract<TerminalFrame, { type: "attached" }>;

/** Seconds without a sign of life after which a resumable terminal's connection counts as lost. Below the server's 60 s. */
const idle = 20;
/** Characters of input that the server may leave unconfirmed before `type` waits. */
const mostUnconfirmed = 1024 * 1024;
/** Milliseconds before the next attempt, if a connection was lost right after it was opened. */
const pause = 250;

/** The frames of a terminal. If the terminal is resumable, a lost connection is replaced without the reader noticing. */
export class TerminalConnection {
  readonly #options: TerminalConnectionOptions;
  readonly #hooks: TerminalReconnection;
  #size: TerminalSize;
  #session: string | undefined;
  #frames: FrameStream<TerminalFrame>;
  /** The open connection; undefined while there is none. */
  #socket: FrameSocket | undefined;
  /** Seconds for which the server keeps the terminal without a connection; undefined if it does not keep it. */
  #keptSeconds: number | undefined;
  /** Position of the last output that was read. */
  #received = 0;
  #number = 0;
  /** Input that the server has not confirmed. */
  readonly #unconfirmed: InputFrame[] = [];
  #unconfirmedLength = 0;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(options: TerminalConnectionOptions) {
    const { resumable } = options;
    this.#options = options;
    this.#size = options.size;
    this.#hooks = typeof resumable === "boolean" ? {} : resumable;
    if (resumable !== false) this.#session = globalThis.crypto.randomUUID();
    this.#frames = this.#connection();
  }

  async open(): Promise<void> {
    this.#socket = await this.#frames.open();
  }

  /** The next output, the end, or an error frame. */
  async next(): Promise<Exclude<TerminalFrame, AttachedFrame>> {
    for (;;) {
      const frame = await this.#nextFrame();
      if (frame.type === "attached") {
        this.#keptSeconds = frame.kept_seconds;
        this.#confirm(frame.taken);
        continue;
      }
      // The server's first frame was not `attached`, so the server cannot resume terminals.
      if (this.#keptSeconds === undefined && this.#session !== undefined) {
        this.#session = undefined;
        this.#confirm(this.#number);
      }
      if (frame.type === "output") {
        this.#received = frame.position ?? this.#received;
        this.#confirm(frame.taken ?? 0);
        if (frame.data === "") continue;
      }
      return frame;
    }
  }

  /** Sends input, or keeps it until there is a connection. Resolves when little input is unconfirmed. */
  async type(data: string): Promise<void> {
    if (this.#session === undefined) return this.#frames.send({ type: "input", data });
    this.#number += 1;
    const frame: InputFrame = { type: "input", data, number: this.#number };
    this.#unconfirmed.push(frame);
    this.#unconfirmedLength += data.length;
    await this.#send(frame);
    // One `#wake` is enough: the `Mutex` lets only one caller at a time write input.
    while (this.#keptSeconds !== undefined && this.#unconfirmedLength > mostUnconfirmed) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async resize({ cols, rows }: TerminalSize): Promise<void> {
    this.#size = { cols, rows };
    const frame = { type: "resize", cols, rows };
    if (this.#session === undefined) return this.#frames.send(frame);
    await this.#send(frame);
  }

  close(): void {
    this.#fail(closedByReader());
    this.#frames.close();
  }

  report(error: unknown): void {
    this.#frames.report(error);
  }

  error(frame: Extract<TerminalFrame, { type: "error" }>): SandboxError {
    return this.#frames.error(frame);
  }

  #connection(resumed?: { openSeconds: number }): FrameStream<TerminalFrame> {
    const { access, shell, signal } = this.#options;
    const { cols, rows } = this.#size;
    const query = new URLSearchParams({ cols: String(cols), rows: String(rows) });
    if (shell !== undefined) query.set("shell", shell);
    if (this.#session !== undefined) query.set("session", this.#session);
    if (resumed !== undefined) query.set("received", String(this.#received));
    return new FrameStream({
      access,
      path: `/terminal?${query}`,
      fields: terminalFrames,
      // No limit: a person may type nothing for any time.
      silence: Number.POSITIVE_INFINITY,
      idle: this.#session === undefined ? undefined : idle,
      openSeconds: resumed?.openSeconds,
      signal,
    });
  }

  /** Sends a frame of a resumable terminal. Ignores a lost connection: the next one repeats the input and the size. */
  async #send(frame: object): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const socket = this.#socket;
    socket?.send(frame);
    await socket?.drained().catch((error: unknown) => {
      if (!this.#mayResume(error)) throw error;
    });
  }

  async #nextFrame(): Promise<TerminalFrame> {
    for (;;) {
      try {
        return await this.#frames.next();
      } catch (error) {
        try {
          if (!this.#mayResume(error)) throw error;
          await this.#resume(error);
        } catch (failure) {
          this.#fail(failure);
          throw failure;
        }
      }
    }
  }

  /** Whether the error means a lost connection to a terminal that the server keeps. */
  #mayResume(error: unknown): error is SandboxError {
    if (this.#keptSeconds === undefined || this.#failure !== undefined) return false;
    if (error instanceof TimeoutError) return error.kind === "idle";
    return error instanceof StreamClosedError && error.closeCode !== undefined && error.closeCode !== 1000;
  }

  async #resume(lost: SandboxError): Promise<void> {
    const seconds = this.#keptSeconds ?? 0;
    const until = performance.now() + seconds * 1000;
    this.#socket = undefined;
    this.#hooks.onLost?.(lost);
    let error = lost;
    for (;;) {
      const openSeconds = (until - performance.now()) / 1000;
      if (openSeconds <= 0) throw gone(error, seconds);
      if (this.#failure !== undefined) throw this.#failure;
      this.#frames.close();
      this.#frames = this.#connection({ openSeconds });
      const { cols, rows } = this.#size;
      try {
        const socket = await this.#frames.open();
        const frame = await this.#frames.next();
        if (frame.type === "error") throw this.#frames.error(frame);
        if (frame.type !== "attached") throw lost;
        this.#confirm(frame.taken);
        if (this.#size.cols !== cols || this.#size.rows !== rows)
          socket.send({ type: "resize", ...this.#size });
        for (const input of this.#unconfirmed) socket.send(input);
        this.#socket = socket;
        this.#hooks.onReconnect?.({ skippedBytes: frame.skipped_bytes });
        return;
      } catch (failed) {
        if (!this.#mayResume(failed)) throw isFinal(failed) ? failed : gone(failed, seconds);
        error = failed;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Drops the stored input up to this number, because the server has confirmed it. */
  #confirm(number: number): void {
    while (this.#unconfirmed[0] !== undefined && this.#unconfirmed[0].number <= number)
      this.#unconfirmedLength -= this.#unconfirmed.shift()?.data.length ?? 0;
    this.#wake?.();
  }

  #fail(failure: unknown): void {
    this.#failure ??= failure;
    this.#wake?.();
  }
}

/** Whether the error has another cause than the network. */
const isFinal = (error: unknown): boolean =>
  !(error instanceof NetworkError || error instanceof TimeoutError);

function gone(cause: unknown, seconds: number): StreamClosedError {
  return new StreamClosedError({
    summary: `The connection was lost for ${seconds} s: the shell has ended.`,
    hint: "Open another terminal.",
    code: "TERMINAL_LOST",
    cause,
  });
}
