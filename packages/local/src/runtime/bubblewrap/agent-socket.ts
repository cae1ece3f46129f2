import { rename } from "node:fs/promises";
import { createServer } from "node:net";

/**
 * A listening Unix socket for a machine's agent. This process creates the socket, and the machine inherits its
 * descriptor.
 *
 * The socket's path exists on the host only, so code in the sandbox can neither remove the socket nor put another one
 * in its place. A connection made before the agent has booted waits in the kernel's queue.
 */
export interface AgentSocket {
  readonly path: string;
  readonly descriptor: number;
  /** Closes this process's copy of the descriptor. The machine's copy stays open. */
  release(): void;
}

export async function listenForAgent(path: string): Promise<AgentSocket> {
  const unbound = `${path}.new`;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(unbound, resolve);
  });
  // Closing a server unlinks the path it was bound to. The socket keeps listening under its new name.
  await rename(unbound, path);
  const descriptor = (server as typeof server & { _handle?: { fd?: number } })._handle?.fd;
  if (descriptor === undefined) {
    server.close();
    throw new Error(
      "This version of Node.js does not expose the file descriptor of a listening socket. Use another version.",
    );
  }
  return { path, descriptor, release: () => server.close() };
}
