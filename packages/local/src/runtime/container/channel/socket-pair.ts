import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";

/**
 * Two connected sockets, for HTTP/2 over a stream that is no socket: one is for HTTP/2, the other one is joined to the stream.
 * Without them HTTP/2 of Node.js ends the process by a failed assertion when a connection is cut while another one is written.
 * `path` names a file that does not exist, in a directory that no other user can write. It is removed again.
 */
export async function socketPair(path: string): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  server.listen(path);
  await once(server, "listening");
  const near = createConnection(path);
  const [[far]] = await Promise.all([once(server, "connection") as Promise<[Socket]>, once(near, "connect")]);
  server.close();
  return [near, far];
}
