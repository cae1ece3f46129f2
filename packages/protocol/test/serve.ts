import type { AddressInfo } from "node:net";
import { serve as listen } from "@hono/node-server";
import type { Hono } from "hono";

export interface Server extends AsyncDisposable {
  readonly url: string;
}

/** The app on a loopback port of its own, as it runs in production. */
export async function serve(app: Hono): Promise<Server> {
  const server = listen({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
