import type { Duplex } from "node:stream";
import { ConfigurationError, clientClosed } from "../../errors/errors.js";
import type { CallScope } from "../calls/calls.js";
import { onNode } from "../on-node.js";
import type { OpeningSocket, OpeningTunnel, OpenSocket, OpenWebSocket, Sockets } from "./sockets.js";

/** The WebSockets of a client. Their code is loaded when the first one is opened. */
export class ClientSockets implements Sockets {
  readonly #openWebSocket: OpenWebSocket | undefined;
  readonly #opening = new Set<CallScope>();
  #loading: Promise<Sockets> | undefined;
  #isClosed = false;

  constructor(openWebSocket: OpenWebSocket | undefined) {
    this.#openWebSocket = openWebSocket;
  }

  open(opening: OpeningSocket): Promise<OpenSocket> {
    return this.#whileOpening(opening.scope, (sockets) => sockets.open(opening));
  }

  /** Throws a `ConfigurationError` if this client cannot open tunnels. */
  requireTunnels(): void {
    if (this.#openWebSocket !== undefined || !onNode()) throw noTunnels();
  }

  openTunnel(opening: OpeningTunnel): Promise<Duplex> {
    return this.#whileOpening(opening.scope, async (sockets) => {
      if (sockets.openTunnel === undefined) throw noTunnels();
      return sockets.openTunnel(opening);
    });
  }

  async #whileOpening<Opened>(
    scope: CallScope,
    open: (sockets: Sockets) => Promise<Opened>,
  ): Promise<Opened> {
    if (this.#isClosed) throw clientClosed();
    this.#opening.add(scope);
    try {
      this.#loading ??= import("./default-sockets.js").then(({ socketsOf }) =>
        socketsOf(this.#openWebSocket),
      );
      return await open(await this.#loading);
    } finally {
      this.#opening.delete(scope);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const scope of this.#opening) scope.stop(clientClosed());
    await (await this.#loading)?.close();
  }
}

const noTunnels = (): ConfigurationError =>
  new ConfigurationError({
    summary: "This client cannot open connections to ports of a sandbox.",
    hint: "It needs Node.js, and a client without the option webSocket. previewUrl(port) is the port's address for HTTP and WebSockets.",
    code: "PORT_FORWARD_UNAVAILABLE",
  });
