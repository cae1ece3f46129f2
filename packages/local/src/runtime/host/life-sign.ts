import { closeSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { isAliveIdentity } from "./process-identity.js";

interface Sign {
  readonly server: Server;
  uses: number;
}

/** The signs of this process, by their paths. */
const shown = new Map<string, Sign>();

const signOf = (place: string, identity: string): string => join(place, nameOf(identity));
const nameOf = (identity: string): string => `cloud-sandbox-${identity}.life`;

/**
 * Shows, to whoever can read `place`, that the process with this identity lives: it listens on a socket there, which only the
 * kernel closes. A process id alone says nothing to a process that shares the directory, and not the list of processes. The
 * returned function ends it; so does the end of the process.
 */
export function showLife(place: string, identity: string): () => void {
  const path = signOf(place, identity);
  const sign = shown.get(path) ?? { server: listen(place, identity), uses: 0 };
  sign.uses += 1;
  if (shown.size === 0) process.on("exit", hideAll);
  shown.set(path, sign);
  return () => {
    sign.uses -= 1;
    if (sign.uses > 0 || !shown.delete(path)) return;
    sign.server.close();
    if (shown.size === 0) process.off("exit", hideAll);
  };
}

function listen(place: string, identity: string): Server {
  const server = createServer((connection) => connection.destroy()).unref();
  // Without a sign, the process id has to do.
  server.on("error", () => undefined);
  // The umask keeps other users from connecting.
  const letGo = inDirectory(place, identity, (path) => server.listen(path));
  // Node removes the socket by the path it was given.
  server.once("close", letGo);
  return server;
}

function hideAll(): void {
  for (const path of shown.keys()) rmSync(path, { force: true });
}

/** Whether a process lives: one with this identity in the own list of processes, or one that shows it in one of these places. */
export async function lives(identity: string, places: Iterable<string>): Promise<boolean> {
  if (isAliveIdentity(identity)) return true;
  for (const place of places) if (await answers(place, identity)) return true;
  return false;
}

/** Removes the sign of a process that was killed. */
export function removeSign(place: string, identity: string): void {
  rmSync(signOf(place, identity), { force: true });
}

/** Whether anybody listens on a sign, however busy. */
function answers(place: string, identity: string): Promise<boolean> {
  return new Promise((resolve) => {
    const letGo = inDirectory(place, identity, (path) => {
      const connection = connect(path);
      const settle = (isAnswered: boolean): void => {
        connection.destroy();
        letGo();
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
 * Uses the path of a sign, until the returned function is called. On Linux it names the directory by a descriptor: the paths of
 * sockets are short there, and every user of the machine can read them.
 */
function inDirectory(place: string, identity: string, use: (path: string) => void): () => void {
  if (process.platform !== "linux") {
    use(signOf(place, identity));
    return () => undefined;
  }
  let directory: number;
  try {
    directory = openSync(place, "r");
  } catch {
    // Nothing is there, or nothing may be there.
    use(signOf(place, identity));
    return () => undefined;
  }
  use(`/proc/self/fd/${directory}/${nameOf(identity)}`);
  return () => closeSync(directory);
}
