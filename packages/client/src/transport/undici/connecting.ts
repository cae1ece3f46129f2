import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** Keeps track of connections being opened, so that closing the client can end them: undici does not know them yet. */
export class Connecting {
  readonly #sockets = new Set<Socket>();
  /** The `connect` option of an undici agent. */
  readonly connect: buildConnector.connector;

  constructor(build: typeof buildConnector) {
    // Cast needed: the connector returns the socket, which undici's types do not say.
    const make = build({}) as (...call: Parameters<buildConnector.connector>) => Socket;
    this.connect = (options, done) => {
      const socket = make(options, (...outcome) => {
        this.#sockets.delete(socket);
        done(...outcome);
        setImmediate(prepareForAnswer);
      });
      this.#sockets.add(socket);
    };
  }

  /**
   * Destroys the connections that are still being opened. Call it after destroying the undici agent, which would
   * otherwise react to their errors.
   */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy(new Error("The client was closed"));
  }
}

/**
 * Makes Node.js load what reading an answer needs, which takes several milliseconds the first time: while the server works on
 * the first request, not when it has answered.
 */
function prepareForAnswer(): void {
  if (isPrepared) return;
  isPrepared = true;
  void globalThis.ReadableStream;
  new TextDecoder().decode(new Uint8Array(), { stream: true });
}

let isPrepared = false;
