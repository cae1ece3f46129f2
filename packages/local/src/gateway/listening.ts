import { createServer, type Server } from "node:net";
import { PortUnavailableError } from "../errors/local-errors.js";

/**
 * Throws if the port is in use; never for 0, which is any free port. Listens on it for a moment to find out. If another process takes the port before the server
 * listens, the start of the server reports that.
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  await listen(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

/** Listens on the port, or on any free one if it is 0. Returns the base URL for callers on this machine. */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new PortUnavailableError(host, port, error)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const actualPort = typeof address === "object" && address ? address.port : port;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${actualPort}`;
}
