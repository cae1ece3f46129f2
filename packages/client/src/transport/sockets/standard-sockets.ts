import { clientClosed } from "../../errors/errors.js";
import {
  type CarriedSocket,
  established,
  type OpeningSocket,
  type OpenWebSocket,
  type Sockets,
} from "./sockets.js";

/** Standard WebSockets: those of runtimes other than Node.js, and those that the caller opens. */
export class StandardSockets implements Sockets {
  readonly #make: OpenWebSocket;
  readonly #open = new Set<CarriedSocket>();
  #isClosed = false;

  constructor(open: OpenWebSocket) {
    this.#make = open;
  }

  async open({ url, headers, listener, scope }: OpeningSocket): Promise<CarriedSocket> {
    if (this.#isClosed) throw clientClosed();
    const socket = this.#make(url, { headers });
    let carried: CarriedSocket | undefined;
    let isOver = false;
    const closed = (code: number, reason: string): void => {
      isOver = true;
      if (carried !== undefined) this.#open.delete(carried);
      listener.closed(code, reason);
    };
    await established(socket, { listener: { message: listener.message, closed }, scope });
    carried = {
      get buffered() {
        return socket.bufferedAmount;
      },
      send: (text) => socket.send(text),
      close: (code = 1000) => socket.close(code),
    };
    // The socket may already be closed again, right after opening.
    if (!isOver) this.#open.add(carried);
    return carried;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#open) socket.close();
  }
}
