import { createServer, type Socket } from "node:net";

/** A Unix socket that this process listens on. */
export interface LocalSocket {
  /** Closes the socket and its connections, and removes the file that it was opened at. */
  close(): void;
}

/** Listens on a Unix socket in a directory that no other user can enter. It does not keep this process running. */
export async function listenLocally(
  path: string,
  onConnection: (connection: Socket) => void,
): Promise<LocalSocket> {
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connections.add(connection.unref());
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  // Without a free descriptor `accept` fails. The connection stays queued until a descriptor is free.
  server.on("error", () => undefined);
  server.unref();
  return {
    close() {
      server.close();
      for (const connection of connections) connection.destroy();
    },
  };
}
