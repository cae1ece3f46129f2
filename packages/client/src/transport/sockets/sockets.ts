/** The seam between what this client knows about WebSockets and what carries them. */
import type { CallScope } from "../calls/call-scope.js";

/** What is used of a WebSocket: any that keeps to the standard will do. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  /** Sends a text frame. */
  send(text: string): void;
  /** Says goodbye. */
  close(code?: number): void;
  /** It is open, or could not be opened. */
  addEventListener(type: "open" | "error", listener: () => void): void;
  /** A frame came: text, or its bytes. */
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  /** It is over. */
  addEventListener(
    type: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/**
 * Opens a WebSocket that sends `headers` with its handshake, for runtimes and proxies that the built-in one does not know:
 * `(url, { headers }) => new WebSocket(url, { headers })` with the `ws` package, for example.
 */
export type OpenWebSocket = (url: string, init: { headers: Record<string, string> }) => WebSocketLike;

/** What is told about one connection, from the moment it is asked for. */
export interface SocketListener {
  message(text: string): void;
  /** Told once, after it was open. */
  closed(code: number, reason: string): void;
}

export interface OpeningSocket {
  /** `ws:` or `wss:`. */
  url: string;
  headers: Record<string, string>;
  listener: SocketListener;
  /** Stops it while it is opened. */
  scope: CallScope;
}

/** A connection that is open. */
export interface CarriedSocket {
  /** Bytes that wait to be sent. */
  readonly buffered: number;
  send(text: string): void;
  /** Says goodbye, and ends the connection soon after, whatever the other side does. */
  close(): void;
  /** Reads nothing until `resume`. Absent where the carrier cannot do that. */
  pause?(): void;
  resume?(): void;
  /** Asks for a sign of life, and gives the bytes that have arrived so far. Absent where the carrier cannot tell. */
  pulse?(): number;
}

export interface Sockets {
  /** Rejects with the scope's failure, with {@link HandshakeRefused}, or with the carrier's own error. */
  open(opening: OpeningSocket): Promise<CarriedSocket>;
  /** Ends those that are open or being opened: some would never end by themselves. */
  close(): Promise<void>;
}

/** The server answered the handshake with something else than a WebSocket. */
export class HandshakeRefused extends Error {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly body: string,
  ) {
    super(`The handshake was answered with ${status}`);
  }
}

/** The handshake failed, and the carrier does not say why. */
export class HandshakeFailed extends Error {}

/** Resolves when it is open. What it tells reaches the listener from the first frame on. */
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

/** Some servers send their JSON as bytes. */
function textOf(data: unknown): string {
  if (typeof data === "string") return data;
  if (data instanceof ArrayBuffer || data instanceof Uint8Array) return decoder.decode(data);
  return String(data);
}
