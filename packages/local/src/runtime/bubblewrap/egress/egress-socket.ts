import { chmod, chown, rename, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { listenLocally } from "../../host/local-socket.js";

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
  const socket = await listenLocally(hidden, onConnection);
  await chmod(hidden, 0o600);
  if (uid !== undefined) await chown(hidden, uid, uid);
  await rename(hidden, path);
  return {
    path,
    async close() {
      socket.close();
      await rm(path, { force: true });
    },
  };
}
