/** A Unix socket that only its user can open. */
import { once } from "node:events";
import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { OptionError } from "../settings.js";

/** Listens at `path`. A socket that a dead server left there is replaced. Throws an {@link OptionError}. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  try {
    await listen(server, path);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (reason !== "EADDRINUSE" || (await isServed(path)))
      throw new OptionError(`Cannot listen on ${path} (${reason}); choose another --socket.`);
    await unlink(path);
    await listen(server, path);
  }
}

/** Sets the umask before the socket is made, so that other users cannot open it at any moment. */
async function listen(server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await once(server, "listening");
}

/** Whether the path is in use: a server answers there, or the file is not a socket. */
async function isServed(path: string): Promise<boolean> {
  if (!(await lstat(path)).isSocket()) return true;
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ECONNREFUSED");
  } finally {
    socket.destroy();
  }
}
