import { closeSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { isAliveIdentity } from "./process-identity.js";

interface LivenessSocket {
  readonly server: Server;
  uses: number;
}

/** The sockets of this process, by their paths. */
const shown = new Map<string, LivenessSocket>();

const socketPath = (directory: string, identity: string): string => join(directory, nameOf(identity));
const nameOf = (identity: string): string => `cloud-sandbox-${identity}.life`;

/**
 * Shows, to whoever can read `directory`, that the process with this identity is alive: it listens on a socket there, which only the
 * kernel closes. A process id alone says nothing to a process that shares the directory, and not the list of processes. The
 * returned function ends it; so does the end of the process.
 */
export function showAlive(directory: string, identity: string): () => void {
  const path = socketPath(directory, identity);
  const socket = shown.get(path) ?? { server: listen(directory, identity), uses: 0 };
  socket.uses += 1;
  if (shown.size === 0) process.on("exit", hideAll);
  shown.set(path, socket);
  return () => {
    socket.uses -= 1;
    if (socket.uses > 0 || !shown.delete(path)) return;
    socket.server.close();
    if (shown.size === 0) process.off("exit", hideAll);
  };
}

function listen(directory: string, identity: string): Server {
  const server = createServer((connection) => connection.destroy()).unref();
  // Without a socket, the process id has to do.
  server.on("error", () => undefined);
  // The umask keeps other users from connecting.
  const release = inDirectory(directory, identity, (path) => server.listen(path));
  // Node removes the socket by the path it was given.
  server.once("close", release);
  return server;
}

function hideAll(): void {
  for (const path of shown.keys()) rmSync(path, { force: true });
}

/** Whether a process with this identity is alive: it is in our list of processes, or listens in one of these directories. */
export async function isAlive(identity: string, directories: Iterable<string>): Promise<boolean> {
  if (isAliveIdentity(identity)) return true;
  for (const directory of directories) if (await answers(directory, identity)) return true;
  return false;
}

/** Removes the socket of a process that was killed. */
export function removeLivenessSocket(directory: string, identity: string): void {
  rmSync(socketPath(directory, identity), { force: true });
}

/** Whether anybody listens on a socket, however busy. */
function answers(directory: string, identity: string): Promise<boolean> {
  return new Promise((resolve) => {
    const release = inDirectory(directory, identity, (path) => {
      const connection = connect(path);
      const settle = (isAnswered: boolean): void => {
        connection.destroy();
        release();
        resolve(isAnswered);
      };
      connection.once("connect", () => settle(true));
      connection.once("error", ({ code }: NodeJS.ErrnoException) =>
        settle(!["ECONNREFUSED", "ENOENT", "ENOTSOCK"].includes(code ?? "")),
      );
    });
  });
}

/**
 * Uses the path of a socket, until the returned function is called. On Linux it names the directory by a descriptor: the paths of
 * sockets are short there, and every user of the machine can read them.
 */
function inDirectory(directory: string, identity: string, use: (path: string) => void): () => void {
  if (process.platform !== "linux") {
    use(socketPath(directory, identity));
    return () => undefined;
  }
  let descriptor: number;
  try {
    descriptor = openSync(directory, "r");
  } catch {
    // Nothing is there, or nothing may be there.
    use(socketPath(directory, identity));
    return () => undefined;
  }
  use(`/proc/self/fd/${descriptor}/${nameOf(identity)}`);
  return () => closeSync(descriptor);
}
