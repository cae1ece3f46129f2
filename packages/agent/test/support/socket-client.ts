import { once } from "node:events";
import WebSocket from "ws";
import { eventually } from "./eventually.js";

/** A schema that parses frames. The protocol package defines them. */
interface Schema<Frame> {
  parse(value: unknown): Frame;
}

/** An agent on a Unix socket, with a token that the agent accepts. */
export interface ReachableAgent {
  readonly socket: string;
  readonly token: string;
}

export interface ConnectOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a WebSocket to an agent. Throws if the agent refuses it. */
export async function connect(
  agent: ReachableAgent,
  path: string,
  options: ConnectOptions = {},
): Promise<WebSocket> {
  const socket = connecting(agent, path, options);
  await once(socket, "open");
  return socket;
}

function connecting(agent: ReachableAgent, path: string, options: ConnectOptions = {}): WebSocket {
  return new WebSocket(`ws+unix://${agent.socket}:${path}`, {
    headers: { authorization: `Bearer ${options.token ?? agent.token}`, ...options.headers },
  });
}

/** Parses the frames that an agent sends, and keeps them. */
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
    // The client listens before the connection is open: frames may come together with the answer to the handshake.
    const client = new SocketClient(connecting(agent, path, options), schema);
    await once(client.socket, "open");
    return client;
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  async until(what: string, condition: (frames: readonly Frame[]) => boolean): Promise<void> {
    await eventually(what, () => condition(this.frames));
  }

  /** Waits until the server has closed the WebSocket. Resolves with all frames. */
  async closed(): Promise<readonly Frame[]> {
    await eventually("the server closes", () => this.closeCode !== undefined);
    return this.frames;
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}
