/** The interface between this client and the WebSocket implementations that it can use. */
import type { Duplex } from "node:stream";
import type { CallScope } from "../calls/calls.js";
import type { AnswerHeaders } from "../http/transport.js";

/** The part of a WebSocket that this client uses. Any standard implementation fits. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  /** Sends a text frame. */
  send(text: string): void;
  /** Starts the closing handshake. */
  close(code?: number): void;
  /** The WebSocket was opened, or could not be opened. */
  addEventListener(type: "open" | "error", listener: () => void): void;
  /** A frame arrived, as text or as bytes. */
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  /** The WebSocket was closed. */
  addEventListener(
    type: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/**
 * Opens a WebSocket and sends `headers` with the handshake, for runtimes and proxies that the built-in one does not
 * support. Example with the package `ws`: `(url, { headers }) => new WebSocket(url, { headers })`.
 */
export type OpenWebSocket = (url: string, init: { headers: Record<string, string> }) => WebSocketLike;

/** Receives the events of one connection, from the start of the handshake. */
export interface SocketListener {
  message(text: string): void;
  /** Called once, if the connection was open. */
  closed(code: number, reason: string): void;
}

export interface OpeningSocket {
  /** Address to connect to, `ws:` or `wss:`. */
  url: string;
  headers: Record<string, string>;
  listener: SocketListener;
  /** Stops the handshake. */
  scope: CallScope;
}

export interface OpeningTunnel extends Pick<OpeningSocket, "headers" | "scope"> {
  /** Address to connect to, `http:` or `https:`. */
  url: string;
  /** Value of the Upgrade header. */
  protocol: string;
}

/** An open connection. */
export interface OpenSocket {
  /** Bytes not sent yet. */
  readonly buffered: number;
  send(text: string): void;
  /**
   * Starts the closing handshake, with code 1000 by default, and ends the connection soon after even if the other side does
   * not answer.
   */
  close(code?: number): void;
  /** Stops reading until `resume`. Absent if the implementation cannot do that. */
  pause?(): void;
  resume?(): void;
  /** Sends a ping, and returns the number of bytes received so far. Absent if the implementation cannot do that. */
  pulse?(): number;
}

export interface Sockets {
  /** Rejects with the scope's failure, with {@link HandshakeRefused}, or with the implementation's own error. */
  open(opening: OpeningSocket): Promise<OpenSocket>;
  /** Opens a connection for bytes, each direction of which ends by itself. Rejects as `open` does. Absent outside of Node.js. */
  openTunnel?(opening: OpeningTunnel): Promise<Duplex>;
  /** Closes all connections, open or opening: some would never end by themselves. */
  close(): Promise<void>;
}

/** The server answered the handshake with an HTTP response instead of a WebSocket. */
export class HandshakeRefused extends Error {
  constructor(
    readonly status: number,
    readonly headers: AnswerHeaders,
    readonly body: string,
  ) {
    super(`The handshake was answered with ${status}`);
  }
}

/** The handshake failed, and the implementation does not say why. */
export class HandshakeFailed extends Error {}

/** Resolves when the WebSocket is open. The listener also gets frames that arrive before that. */
export async function established(socket: WebSocketLike, opening: Omit<OpeningSocket, "url" | "headers">) {
  const { listener, scope } = opening;
  let isOpen = false;
  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => listener.message(textOf(data)));
  let stop = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      stop = () => {
        socket.close();
        reject(scope.reason);
      };
      const failed = (): void => reject(new HandshakeFailed("The WebSocket was not opened"));
      scope.addEventListener("abort", stop);
      socket.addEventListener("open", () => {
        isOpen = true;
        resolve();
      });
      socket.addEventListener("error", failed);
      socket.addEventListener("close", ({ code, reason }) => {
        if (isOpen) listener.closed(code, reason);
        else failed();
      });
      if (scope.aborted) stop();
    });
  } finally {
    scope.removeEventListener("abort", stop);
  }
}

const decoder = new TextDecoder();

/** The text of a frame. Some servers send JSON as bytes. */
function textOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (data instanceof ArrayBuffer || data instanceof Uint8Array) return decoder.decode(data);
  return String(data);
}
