import { once } from "node:events";
import WebSocket from "ws";
import { eventually } from "./eventually.js";

/** As the protocol package has them. */
interface Schema<Frame> {
  parse(value: unknown): Frame;
}

/** An agent on a Unix socket, with a token that it admits. */
export interface ReachableAgent {
  readonly socket: string;
  readonly token: string;
}

export interface ConnectOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A connection to a WebSocket of an agent; fails unless it is let in. */
export async function connect(
  agent: ReachableAgent,
  path: string,
  options: ConnectOptions = {},
): Promise<WebSocket> {
  const socket = new WebSocket(`ws+unix://${agent.socket}:${path}`, {
    headers: { authorization: `Bearer ${options.token ?? agent.token}`, ...options.headers },
  });
  await once(socket, "open");
  return socket;
}

/** Reads frames as the protocol package has them, and keeps them. */
export class SocketClient<Frame> implements Disposable {
  readonly frames: Frame[] = [];
  closeCode: number | undefined;

  private constructor(
    readonly socket: WebSocket,
    schema: Schema<Frame>,
  ) {
    socket.on("message", (data) => this.frames.push(schema.parse(JSON.parse(data.toString()))));
    socket.once("close", (code) => {
      this.closeCode = code;
    });
  }

  static async open<Frame>(
    agent: ReachableAgent,
    path: string,
    schema: Schema<Frame>,
    options?: ConnectOptions,
  ): Promise<SocketClient<Frame>> {
    return new SocketClient(await connect(agent, path, options), schema);
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  async until(what: string, condition: (frames: readonly Frame[]) => boolean): Promise<void> {
    await eventually(what, () => condition(this.frames));
  }

  /** Resolves when the server has closed. */
  async closed(): Promise<readonly Frame[]> {
    await eventually("the server closes", () => this.closeCode !== undefined);
    return this.frames;
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}
