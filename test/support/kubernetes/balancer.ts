import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Shares connections out among servers, as a Service of Kubernetes does: it tries one server, and knows nothing of requests. */
export class Balancer implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#join(socket));
  #targets: readonly URL[] = [];
  #next = 0;

  static async open(): Promise<Balancer> {
    const balancer = new Balancer();
    await once(balancer.#server.listen(0, "127.0.0.1"), "listening");
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Shares new connections out among these servers only. */
  set(urls: readonly string[]): void {
    this.#targets = urls.map((url) => new URL(url));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(socket: Socket): void {
    this.#next += 1;
    const target = this.#targets[this.#next % this.#targets.length];
    if (!target) return void socket.destroy();
    const { hostname: host, port } = target;
    const other = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => to.destroy());
      from.once("close", () => {
        this.#sockets.delete(from);
        if (!from.readableEnded) to.destroy();
      });
      from.pipe(to);
    }
  }
}
