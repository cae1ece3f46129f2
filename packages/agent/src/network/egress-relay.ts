import { statSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { proxyPorts } from "@cloud-sandbox/server-kit/execution";

/**
 * Most connections to both ports: the 128 that the proxy outside serves, and some that it refuses with a reason. Each takes two file
 * descriptors, and the agent needs the rest for programs and files.
 */
const mostConnections = 128 + 32;
const retryMs = 1000;

/** Files in /etc that Node reads, on its main thread, when it first listens on an address. */
const resolverFiles = ["resolv.conf", "nsswitch.conf", "netsvc.conf", "svc.conf"];

/**
 * Forwards bytes between the proxy ports inside the sandbox and the Unix socket of the proxy outside. The relay does
 * not inspect them: the proxy outside filters, because the sandbox cannot be trusted to filter itself.
 */
export function relayEgress(socketPath: string): void {
  const open = new Set<Socket>();
  const relay = (client: Socket): void => {
    if (open.size >= mostConnections) return void client.destroy();
    open.add(client);
    client.once("close", () => open.delete(client));
    const outside = connect({ path: socketPath, allowHalfOpen: true });
    forward(client, outside);
    forward(outside, client);
  };
  for (const port of Object.values(proxyPorts)) listen(port, relay);
}

function listen(port: number, relay: (client: Socket) => void): void {
  const server = createServer({ allowHalfOpen: true }, relay);
  // Listening fails if a program, or a process that an earlier agent left, uses the port. Retry until it is free.
  const retry = () => void setTimeout(start, retryMs).unref();
  const start = () => {
    if (resolverFiles.every(isReadable)) server.listen(port, "127.0.0.1");
    else retry();
  };
  server.on("error", retry);
  start();
}

/**
 * Whether Node can read a file in /etc without blocking. Code that ran before the sandbox was stopped may have put a
 * FIFO in the file's place, and reading that would block the agent forever.
 */
function isReadable(name: string): boolean {
  try {
    return statSync(`/etc/${name}`, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    // A dangling symbolic link does not block Node.js either.
    return true;
  }
}

function forward(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}
