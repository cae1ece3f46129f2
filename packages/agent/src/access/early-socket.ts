import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";

/**
 * A Unix socket that is listened on before there is a server for it. The agent opens it before it takes the user of its
 * programs, so that it can be in a directory that no program can enter. Connections wait until the server has it.
 */
export class EarlySocket {
  readonly #early: Socket[] = [];

  private constructor(private readonly listener: Server & { pauseOnConnect?: boolean }) {
    listener.on("connection", (connection) => this.#early.push(connection));
  }

  /** Listens at `path`, in place of the socket that an agent before has left there. */
  static async open(path: string): Promise<EarlySocket> {
    rmSync(path, { force: true });
    const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const socket = new EarlySocket(listener);
    await new Promise<void>((resolve, reject) => {
      listener.once("error", reject);
      listener.listen(path, resolve);
    });
    return socket;
  }

  /** From now on `server` serves the connections, until it is closed. Those that wait are its first. */
  handTo(server: Server): void {
    const serve = (connection: Socket): void => void server.emit("connection", connection);
    this.listener.pauseOnConnect = false;
    this.listener.removeAllListeners("connection").on("connection", serve);
    for (const connection of this.#early.splice(0)) {
      serve(connection);
      connection.resume();
    }
    server.once("close", () => this.listener.close());
    // An HTTP server begins to check the time limits of its connections when it listens.
    server.emit("listening");
  }
}
