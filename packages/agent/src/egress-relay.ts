import { connect, createServer, type Socket } from "node:net";

/** Where programs find the proxies: the ports that such proxies have by custom. */
export const proxyPorts = { http: 3128, socks: 1080 } as const;

const maxConnections = 256;
const retryMs = 1000;

/**
 * Passes bytes between the proxies' ports inside the sandbox and the socket on which the proxy outside answers. It reads
 * none of them: the sandbox is not trusted to filter itself.
 */
export function relayEgress(socketPath: string): void {
  for (const port of Object.values(proxyPorts)) listen(port, socketPath);
}

function listen(port: number, socketPath: string): void {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const outside = connect({ path: socketPath, allowHalfOpen: true });
    pass(client, outside);
    pass(outside, client);
  });
  server.maxConnections = maxConnections;
  // A program has the port, or what is left of an agent before this one: it is taken when it is free.
  server.on("error", () => setTimeout(() => server.listen(port, "127.0.0.1"), retryMs).unref());
  server.listen(port, "127.0.0.1");
}

function pass(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}
