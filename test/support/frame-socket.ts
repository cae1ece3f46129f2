import type { WebSocketLike } from "cloud-sandbox";
import { WebSocket } from "undici";

/** Text, or a binary message. */
type Message = string | Uint8Array<ArrayBuffer>;

export type Frame = Readonly<Record<string, unknown>>;

/** A WebSocket to an agent, which sends JSON frames. */
export class FrameSocket implements Disposable {
  readonly frames: Frame[] = [];
  /** What came and was no frame. */
  readonly others: string[] = [];
  /** The status it was closed with. */
  closed: number | undefined;

  private constructor(
    private readonly socket: WebSocketLike,
    private readonly sendMessage: (message: Message) => void,
  ) {
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    socket.addEventListener("close", ({ code }) => {
      this.closed = code;
    });
    // A close follows, and tells.
    socket.addEventListener("error", () => undefined);
  }

  /** `url` is the agent's, with either scheme. */
  static async open(url: string, token: string): Promise<FrameSocket> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
    return FrameSocket.over(socket, (message) => socket.send(message));
  }

  /** Resolves when it is open. */
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

  /** Nothing once it is closed. */
  sendRaw(message: Message): void {
    if (this.closed === undefined) this.sendMessage(message);
  }

  /** What frames of that type carried, joined. */
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
