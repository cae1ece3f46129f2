import { rename } from "node:fs/promises";
import { createServer } from "node:net";

/**
 * A listening Unix socket made here and served in there: the machine inherits its descriptor.
 *
 * Its path exists on the host only, so code in the sandbox can neither remove it nor put its own in its place,
 * and a connection made before the agent has booted waits in the kernel's queue.
 */
export interface AgentSocket {
  readonly path: string;
  readonly descriptor: number;
  /** Closes this process's copy; the machine's stays open. */
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
    throw new Error("This Node.js does not tell the descriptor of a listening socket.");
  }
  return { path, descriptor, release: () => server.close() };
}
