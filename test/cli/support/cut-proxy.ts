import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

/**
 * Passes TCP connections on to a server, until they are cut. In what the server answers, its address is replaced by the proxy's,
 * so that the agents of its sandboxes are reached through the proxy as well. Both ports have five digits.
 */
export class CutProxy {
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on("connection", (client) => this.#pass(client));
  }

  static async start(target: string): Promise<CutProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new CutProxy(server, new URL(target));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts all connections, and those that come, until `mend` is called. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #readdressing(): Transform {
    const own = new URL(this.url).host;
    return new Transform({
      transform: (chunk: Buffer, _, done) =>
        done(null, Buffer.from(chunk.toString("latin1").replaceAll(this.target.host, own), "latin1")),
    });
  }

  #pass(client: Socket): void {
    if (this.#isCut) return void client.resetAndDestroy();
    const server = connect(Number(this.target.port), this.target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => undefined);
      from.once("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    client.pipe(server);
    server.pipe(this.#readdressing()).pipe(client);
  }
}
