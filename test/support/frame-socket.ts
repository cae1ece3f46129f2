import type { WebSocketLike } from "cloud-sandbox";
import { WebSocket } from "undici";

/** A text message, or a binary one. */
type Message = string | Uint8Array<ArrayBuffer>;

export type Frame = Readonly<Record<string, unknown>>;

/** A WebSocket to an agent. Collects the JSON frames that the agent sends. */
export class FrameSocket implements Disposable {
  readonly frames: Frame[] = [];
  /** Messages that were received and are not JSON. */
  readonly others: string[] = [];
  /** The close code, once the socket is closed. */
  closed: number | undefined;

  private constructor(
    private readonly socket: WebSocketLike,
    private readonly sendMessage: (message: Message) => void,
  ) {
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    socket.addEventListener("close", ({ code }) => {
      this.closed = code;
    });
    // Ignore errors: the `close` event follows, with the code.
    socket.addEventListener("error", () => undefined);
  }

  /** Opens a WebSocket to an agent. `url` may begin with http or ws. */
  static async open(url: string, token: string): Promise<FrameSocket> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
    return FrameSocket.over(socket, (message) => socket.send(message));
  }

  /** Wraps a socket. Resolves when it is open. */
  static async over(
    socket: WebSocketLike,
    send = (message: Message): void => socket.send(String(message)),
  ): Promise<FrameSocket> {
    const opened = new FrameSocket(socket, send);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => reject(new Error("The WebSocket was not opened.")));
    });
    return opened;
  }

  send(frame: Frame): void {
    this.sendRaw(JSON.stringify(frame));
  }

  /** Sends a message unchanged. Does nothing if the socket is closed. */
  sendRaw(message: Message): void {
    if (this.closed === undefined) this.sendMessage(message);
  }

  /** The `data` of all frames of a type, joined. */
  text(type: string): string {
    return this.frames
      .filter((frame) => frame.type === type)
      .map(({ data }) => String(data))
      .join("");
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }

  #receive(data: unknown): void {
    try {
      this.frames.push(JSON.parse(String(data)) as Frame);
    } catch {
      this.others.push(String(data));
    }
  }
}
