import { chmod, chown, rename, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";

/** A Unix socket on which this process answers what one machine, and nobody else on this host, connects to it. */
export interface EgressSocket {
  readonly path: string;
  /** Closes it with all its connections, and removes it. */
  close(): Promise<void>;
}

/** Makes it in `hidden`, where nobody else can connect yet, and then moves it to `path` for the machine of `uid`. */
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
  // Unreferenced, so that the egress socket does not keep this process running.
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
