import { type Fetch, FetchTransport } from "./http/fetch-transport.js";
import type { Transport } from "./http/transport.js";
import { onNode } from "./on-node.js";
import { UndiciTransport } from "./undici/undici-transport.js";

/** The caller's `fetch` if given, else undici on Node.js and the global `fetch` elsewhere. */
export function defaultTransport(callersFetch: Fetch | undefined): Transport {
  if (onNode() && callersFetch === undefined) return new UndiciTransport();
  return new FetchTransport(callersFetch ?? ((request) => globalThis.fetch(request)));
}
