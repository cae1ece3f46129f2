import { clientClosed } from "../../errors/errors.js";
import {
  established,
  type OpeningSocket,
  type OpenSocket,
  type OpenWebSocket,
  type Sockets,
} from "./sockets.js";

/** Standard WebSockets: those of runtimes other than Node.js, and those that the caller opens. */
export class StandardSockets implements Sockets {
  readonly #make: OpenWebSocket;
  readonly #open = new Set<OpenSocket>();
  #isClosed = false;

  constructor(open: OpenWebSocket) {
    this.#make = open;
  }

  async open({ url, headers, listener, scope }: OpeningSocket): Promise<OpenSocket> {
    if (this.#isClosed) throw clientClosed();
    const socket = this.#make(url, { headers });
    let opened: OpenSocket | undefined;
    let isOver = false;
    const closed = (code: number, reason: string): void => {
      isOver = true;
      if (opened !== undefined) this.#open.delete(opened);
      listener.closed(code, reason);
    };
    await established(socket, { listener: { message: listener.message, closed }, scope });
    opened = {
      get buffered() {
        return socket.bufferedAmount;
      },
      send: (text) => socket.send(text),
      close: (code = 1000) => socket.close(code),
    };
    // Add only an open socket: it may already be closed again.
    if (!isOver) this.#open.add(opened);
    return opened;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#open) socket.close();
  }
}
