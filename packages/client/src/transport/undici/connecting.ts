import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** Connections that are being made: nothing else knows of them before they are there, so nothing else can end them. */
export class Connecting {
  readonly #sockets = new Set<Socket>();
  /** For an agent of undici. */
  readonly connect: buildConnector.connector;

  constructor(build: typeof buildConnector) {
    // undici's types promise less than what it makes.
    const make = build({}) as (...call: Parameters<buildConnector.connector>) => Socket;
    this.connect = (options, done) => {
      const socket = make(options, (...outcome) => {
        this.#sockets.delete(socket);
        done(...outcome);
      });
      this.#sockets.add(socket);
    };
  }

  /** After the agent, which no longer asks why then. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy(new Error("The client was closed"));
  }
}
