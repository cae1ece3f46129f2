import { measureCalls } from "./client/calls.mjs";
import { measureMemory } from "./client/memory.mjs";
import { measureStarts } from "./client/start.mjs";
import { measureTransfers } from "./client/transfers.mjs";
import { withServed } from "./served.mjs";

/** Measures the client against the vendor's SDK and `undici.request`, with the same server in the same run. */
export function benchClient() {
  return withServed("client/server.mjs", async (url) => [
    ...(await measureCalls(url)),
    ...(await measureStarts(url)),
    ...(await measureMemory(url)),
    ...(await measureTransfers(url)),
  ]);
}
