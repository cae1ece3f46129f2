import type { WebSocketLike } from "cloud-sandbox";
import { WebSocket } from "undici";

/** Text, or a binary message. */
type Message = string | Uint8Array<ArrayBuffer>;

export type Frame = Readonly<Record<string, unknown>>;

/** A WebSocket to an agent, which sends JSON frames. */
export class FrameSocket implements Disposable {
  readonly frames: Frame[] = [];
  /** The messages received that are not JSON frames. */
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

  /** `url` is the agent's, with either scheme. */
  static async open(url: string, token: string): Promise<FrameSocket> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
    return FrameSocket.over(socket, (message) => socket.send(message));
  }

  /** Resolves when the socket is open. */
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

  /** Does nothing once the socket is closed. */
  sendRaw(message: Message): void {
    if (this.closed === undefined) this.sendMessage(message);
  }

  /** The `data` of all frames of that type, joined. */
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
