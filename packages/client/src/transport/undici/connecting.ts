import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** Keeps track of connections being opened, so that closing the client can end them: undici does not know them yet. */
export class Connecting {
  readonly #sockets = new Set<Socket>();
  /** The `connect` option of an undici agent. */
  readonly connect: buildConnector.connector;

  /** With `allowHalfOpen`, each direction of a connection ends by itself. Default: the first end closes it. */
  constructor(build: typeof buildConnector, options: { allowHalfOpen?: boolean } = {}) {
    // Casts needed: undici's types want a port here, and do not say that the connector returns the socket.
    const make = build(options as buildConnector.BuildOptions) as (
      ...call: Parameters<buildConnector.connector>
    ) => Socket;
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
