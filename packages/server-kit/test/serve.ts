import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ContractRouter } from "../src/index.js";

export interface Server extends AsyncDisposable {
  readonly url: string;
}

/** Starts the router on a loopback port of its own. */
export async function serve(router: ContractRouter): Promise<Server> {
  const server = createServer((request, response) => void router.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
