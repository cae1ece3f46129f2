import { clientClosed } from "../../errors/errors.js";
import type { CallScope } from "../calls/call-scope.js";
import type { OpeningSocket, OpenSocket, OpenWebSocket, Sockets } from "./sockets.js";

/** The WebSockets of a client. Their code is loaded when the first one is opened. */
export class ClientSockets implements Sockets {
  readonly #given: OpenWebSocket | undefined;
  readonly #opening = new Set<CallScope>();
  #loading: Promise<Sockets> | undefined;
  #isClosed = false;

  constructor(given: OpenWebSocket | undefined) {
    this.#given = given;
  }

  async open(opening: OpeningSocket): Promise<OpenSocket> {
    if (this.#isClosed) throw clientClosed();
    this.#opening.add(opening.scope);
    try {
      this.#loading ??= import("./default-sockets.js").then(({ socketsOf }) => socketsOf(this.#given));
      return await (await this.#loading).open(opening);
    } finally {
      this.#opening.delete(opening.scope);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const scope of this.#opening) scope.stop(clientClosed());
    await (await this.#loading)?.close();
  }
}
