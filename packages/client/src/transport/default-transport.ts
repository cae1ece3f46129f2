import { type Fetch, FetchTransport } from "./http/fetch-transport.js";
import type { Transport } from "./http/transport.js";
import { NodeTransport } from "./node/node-transport.js";
import { onNode } from "./on-node.js";
import { UndiciTransport } from "./undici/undici-transport.js";

/**
 * The caller's `fetch` if given, else undici on Node.js and the global `fetch` elsewhere. `isBrief`: for a program that ends after
 * a few requests.
 */
export function defaultTransport(given: Fetch | undefined, isBrief: boolean): Transport {
  if (onNode() && given === undefined) {
    const undici = new UndiciTransport();
    return isBrief ? new NodeTransport(undici) : undici;
  }
  return new FetchTransport(given ?? ((request) => globalThis.fetch(request)));
}
