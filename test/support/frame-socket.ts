import { WebSocket } from "undici";

export type Frame = Readonly<Record<string, unknown>>;

/** A WebSocket to an agent, which sends JSON frames. */
export class FrameSocket implements Disposable {
  readonly frames: Frame[] = [];
  /** What came and was no frame. */
  readonly others: string[] = [];
  /** The status it was closed with. */
  closed: number | undefined;

  private constructor(private readonly socket: WebSocket) {
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
    const opened = new FrameSocket(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve(), { once: true });
      socket.addEventListener("error", ({ message }) => reject(new Error(`${url}: ${message}`)), {
        once: true,
      });
    });
    return opened;
  }

  send(frame: Frame): void {
    this.sendRaw(JSON.stringify(frame));
  }

  /** Text, or a binary message; nothing once it is closed. */
  sendRaw(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message);
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
