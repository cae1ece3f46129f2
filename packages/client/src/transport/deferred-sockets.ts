import { clientClosed } from "../errors.js";
import type { CarriedSocket, OpeningSocket, OpenWebSocket, Sockets } from "./sockets.js";

/** WebSockets whose code is loaded with the first of them. */
export class DeferredSockets implements Sockets {
  readonly #given: OpenWebSocket | undefined;
  #loading: Promise<Sockets> | undefined;
  #isClosed = false;

  constructor(given: OpenWebSocket | undefined) {
    this.#given = given;
  }

  async open(opening: OpeningSocket): Promise<CarriedSocket> {
    if (this.#isClosed) throw clientClosed();
    this.#loading ??= import("./default-sockets.js").then(({ socketsOf }) => socketsOf(this.#given));
    return (await this.#loading).open(opening);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#loading)?.close();
  }
}
