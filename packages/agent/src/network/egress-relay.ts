import { statSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

/** Where programs find the proxies: the ports that such proxies have by custom. */
export const proxyPorts = { http: 3128, socks: 1080 } as const;

/** Two descriptors each: the agent needs the rest of its own for programs and files. */
const maxConnections = { http: 96, socks: 32 } as const;
const retryMs = 1000;

/** Node reads these when it first listens on an address, in its only thread. */
const resolverFiles = ["resolv.conf", "nsswitch.conf", "netsvc.conf", "svc.conf"];

/**
 * Passes bytes between the proxies' ports inside the sandbox and the socket on which the proxy outside answers. It reads
 * none of them: the sandbox is not trusted to filter itself.
 */
export function relayEgress(socketPath: string): void {
  for (const kind of ["http", "socks"] as const) listen(proxyPorts[kind], maxConnections[kind], socketPath);
}

function listen(port: number, limit: number, socketPath: string): void {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const outside = connect({ path: socketPath, allowHalfOpen: true });
    pass(client, outside);
    pass(outside, client);
  });
  server.maxConnections = limit;
  // A program has the port, or what is left of an agent before this one: it is taken when it is free.
  const again = () => void setTimeout(start, retryMs).unref();
  const start = () => {
    if (resolverFiles.every(isReadable)) server.listen(port, "127.0.0.1");
    else again();
  };
  server.on("error", again);
  start();
}

/** Code of before a stop may have left a pipe that nobody writes to, at which the agent would wait for ever. */
function isReadable(name: string): boolean {
  try {
    return statSync(`/etc/${name}`, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    // A link that leads nowhere is not read either.
    return true;
  }
}

function pass(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}
