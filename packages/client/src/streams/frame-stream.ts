import type { ExecuteStreamFrame, TerminalFrame, WatchFrame } from "@cloud-sandbox/protocol";
import { errorFromFrame } from "../errors/error-from-response.js";
import {
  InvalidResponseError,
  isSandboxError,
  reportIt,
  SandboxError,
  StreamClosedError,
} from "../errors/errors.js";
import { secretsOf } from "../errors/redaction.js";
import { hasFields, type RequiredFields } from "../transport/answer-fields.js";
import { CallScope } from "../transport/calls/calls.js";
import type { FrameSocket } from "./frame-socket.js";
import type { FrameFields, RawFrame } from "./frames.js";
import type { StreamRequest } from "./open-frame-socket.js";

/** Opens WebSockets to the agent of one sandbox. */
export interface StreamOpener {
  /** The sandbox's token, which errors must not contain. */
  readonly tokens: { readonly value: string | undefined };
  openStream(request: StreamRequest): Promise<FrameSocket>;
}

export interface FrameStreamOptions<Frame extends ServerFrame> {
  access: StreamOpener;
  path: string;
  /** The frame to send when the connection is open. */
  first?: object | undefined;
  fields: FrameFields<Frame>;
  /** Seconds for which the server may send no frame. */
  silence: number;
  /** Upper limit for this stream's share of `timeouts.idleSeconds`, in seconds. */
  idle?: number | undefined;
  /** Seconds for which to try to open the connection, in place of the client's number of attempts. */
  openSeconds?: number | undefined;
  signal: AbortSignal | undefined;
}

export type ServerFrame = ExecuteStreamFrame | TerminalFrame | WatchFrame;
type ErrorFrame = Extract<ServerFrame, { type: "error" }>;

/** The typed frames of a WebSocket, which the first read or write opens. */
export class FrameStream<Frame extends ServerFrame> {
  readonly #options: FrameStreamOptions<Frame>;
  #opening: Promise<FrameSocket> | undefined;
  #socket: FrameSocket | undefined;
  #scope: CallScope | undefined;
  #ended: SandboxError | undefined;

  constructor(options: FrameStreamOptions<Frame>) {
    this.#options = options;
  }

  /** Opens the WebSocket; later calls return the same one. */
  open(): Promise<FrameSocket> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async next(): Promise<Frame> {
    const socket = await this.open();
    for (;;) {
      const frame = this.#typed(await socket.next());
      if (frame !== undefined) return frame;
    }
  }

  /** Sends a frame. Resolves when little unsent data is left. */
  async send(frame: object): Promise<void> {
    const socket = await this.open();
    socket.send(frame);
    await socket.drained();
  }

  /** Closes the stream from this side, even while it is opening. A pending read rejects with `reason`. */
  close(reason: SandboxError = closedByReader()): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#scope?.stop(reason);
    this.#scope?.end();
  }

  /**
   * Closes the stream because something other than reading failed, such as its input. A pending read rejects with
   * `error`.
   */
  fail(error: unknown): void {
    this.close(isSandboxError(error) ? error : inputFailed(error));
  }

  /** Reports a reader's error to the client's hooks and log, unless the reader itself closed the stream. */
  report(error: unknown): void {
    if (isSandboxError(error) && error.code !== closedByReaderCode) this.#socket?.report(error);
  }

  /** The error for an invalid message of the server. */
  invalid(fault: { summary: string; hint: string; code: string }): InvalidResponseError {
    return new InvalidResponseError({ ...fault, requestId: this.#socket?.requestId });
  }

  error(frame: ErrorFrame): SandboxError {
    const { access, first } = this.#options;
    const token = access.tokens.value;
    return errorFromFrame(
      frame,
      [...(token === undefined ? [] : [token]), ...secretsOf({ ...first })],
      this.#socket?.requestId,
    );
  }

  async #open(): Promise<FrameSocket> {
    if (this.#ended !== undefined) throw this.#ended;
    const { access, first, idle, path, openSeconds, signal, silence } = this.#options;
    const scope = new CallScope(signal);
    this.#scope = scope;
    try {
      const socket = await access.openStream({ path, scope, silence, idle, openSeconds });
      this.#socket = socket;
      if (first !== undefined) socket.send(first);
      return socket;
    } catch (error) {
      scope.end();
      throw error;
    }
  }

  #typed(frame: RawFrame): Frame | undefined {
    const { type } = frame;
    const fields = Object.entries<RequiredFields>(this.#options.fields).find(([name]) => name === type);
    if (fields === undefined) return undefined;
    if (hasFields(frame, fields[1])) return frame as Frame;
    const error = this.invalid({
      summary: `The server sent a "${type}" frame without its required fields.`,
      hint: reportIt,
      code: "INVALID_FRAME",
    });
    this.close(error);
    throw error;
  }
}

const closedByReaderCode = "STREAM_LEFT";

/** The error of a stream that its reader closed before the end. */
export function closedByReader(): StreamClosedError {
  return new StreamClosedError({
    summary: "The stream was closed by its reader before its end.",
    hint: "Read the stream to its end for the result.",
    code: closedByReaderCode,
  });
}

function inputFailed(cause: unknown): SandboxError {
  return new SandboxError({
    summary: "The stream was closed because the input for it failed.",
    hint: "The error's cause says why the input failed.",
    code: "INPUT_FAILED",
    cause,
  });
}
