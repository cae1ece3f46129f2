import { clientClosed } from "../errors/errors.js";
import type { Fetch } from "./http/fetch-transport.js";
import type { IncomingResponse, OutgoingRequest, Transport } from "./http/transport.js";
import { onNode } from "./on-node.js";

/**
 * The caller's `fetch` if given, else undici on Node.js and the global `fetch` elsewhere. Loaded with the first request.
 */
export class DeferredTransport implements Transport {
  readonly #given: Fetch | undefined;
  #loading: Promise<Transport> | undefined;
  #transport: Transport | undefined;
  #isClosed = false;

  constructor(given: Fetch | undefined) {
    this.#given = given;
  }

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    if (this.#isClosed) throw clientClosed();
    this.#loading ??= transportOf(this.#given);
    this.#transport ??= await this.#loading;
    return this.#transport.send(request);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#loading)?.close();
  }
}

async function transportOf(given: Fetch | undefined): Promise<Transport> {
  if (onNode() && given === undefined)
    return new (await import("./undici/undici-transport.js")).UndiciTransport();
  const { FetchTransport } = await import("./http/fetch-transport.js");
  return new FetchTransport(given ?? ((request) => globalThis.fetch(request)));
}
