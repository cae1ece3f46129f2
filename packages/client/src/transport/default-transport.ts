import { FetchTransport } from "./fetch-transport.js";
import type { Transport } from "./transport.js";
import { UndiciTransport } from "./undici-transport.js";

/** The fast road on Node, `fetch` on every other runtime. */
export function defaultTransport(): Transport {
  const versions: Record<string, string | undefined> = globalThis.process?.versions ?? {};
  const onNode = versions.node !== undefined && versions.bun === undefined && versions.deno === undefined;
  return onNode ? new UndiciTransport() : new FetchTransport((request) => globalThis.fetch(request));
}
