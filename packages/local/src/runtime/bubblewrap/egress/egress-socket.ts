import { chmod, chown, rename, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";

/**
 * A Unix socket over which one machine reaches this process's egress proxy. No other user of the host can connect to
 * it.
 */
export interface EgressSocket {
  readonly path: string;
  /** Closes the socket and all its connections, and removes its file. */
  close(): Promise<void>;
}

/**
 * Creates the socket at `hidden`, a path that no other user can reach, sets its owner and mode, and then moves it to
 * `path`, where processes of `uid` can connect.
 */
export async function listenForEgress(
  { hidden, path, uid }: { hidden: string; path: string; uid: number | undefined },
  onConnection: (connection: Socket) => void,
): Promise<EgressSocket> {
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connections.add(connection.unref());
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(hidden, resolve);
  });
  // Without a free descriptor `accept` fails. The connection stays queued until a descriptor is free.
  server.on("error", () => undefined);
  // Unreference the server, so that it does not keep this process running.
  server.unref();
  await chmod(hidden, 0o600);
  if (uid !== undefined) await chown(hidden, uid, uid);
  await rename(hidden, path);
  return {
    path,
    async close() {
      server.close();
      for (const connection of connections) connection.destroy();
      await rm(path, { force: true });
    },
  };
}
