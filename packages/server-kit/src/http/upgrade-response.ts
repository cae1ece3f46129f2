import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How long a client may take to read a refusal. */
const lingerMs = 2000;

/**
 * The answer to a request that may become a connection of another protocol. Until it has, the answer is an ordinary one,
 * and the last on its connection.
 */
export function upgradeResponse(request: IncomingMessage, connection: Duplex, head: Buffer): ServerResponse {
  const socket = asSocket(connection);
  // Nobody is left to be told; what is piped here ends by it.
  socket.on("error", () => socket.destroy());
  if (head.length > 0) socket.unshift(head);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => {
    socket.end();
    // What is still sent is read: closed with bytes unread, a connection would take the answer back.
    socket.resume();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  });
  return response;
}

/** Says that the protocol was switched; the connection is the caller's from then on. */
export function switchProtocols(
  response: ServerResponse,
  upgrade: string,
  headers: OutgoingHttpHeaders = {},
): Duplex | undefined {
  const { socket } = response;
  if (!socket) return undefined;
  response.writeHead(101, { ...headers, connection: "Upgrade", upgrade });
  response.flushHeaders();
  response.detachSocket(socket);
  return socket;
}

function asSocket(connection: Duplex): Socket {
  if (connection instanceof Socket) return connection;
  throw new TypeError("HTTP is served over sockets.");
}
