import { type IncomingMessage, type OutgoingHttpHeaders, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Milliseconds that a client may take to read a refusal. */
const lingerMs = 2000;

/**
 * Creates the response for an upgrade request. Until the protocol is switched it is an ordinary HTTP response, after
 * which the connection is closed.
 */
export function upgradeResponse(request: IncomingMessage, connection: Duplex, head: Buffer): ServerResponse {
  const socket = asSocket(connection);
  // On an error the client is gone, so there is nothing to report; destroying the socket also ends what is piped to
  // it.
  socket.on("error", () => socket.destroy());
  if (head.length > 0) socket.unshift(head);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => {
    socket.end();
    // Read and drop what the client still sends: closing a connection with unread bytes resets it, and the client
    // would lose the answer.
    socket.resume();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  });
  return response;
}

/**
 * Answers with 101 and returns the connection, which from then on belongs to the caller. Undefined if the connection
 * is already closed.
 */
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
  throw new TypeError("An HTTP server's connection must be a net.Socket.");
}

/**
 * Serves a request as if it had not asked for an upgrade, which a server may do (RFC 9110, section 7.8). Some clients
 * offer HTTP/2 with every request.
 *
 * For a request with upgrade headers Node emits the raw connection, with the body unread. So the request's head is put
 * back into the connection without its upgrade headers, and the server parses it again.
 */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  connection: Duplex,
  body: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value;
    if (!/^(upgrade|http2-settings)$/i.test(name) && kept !== "") lines.push(`${name}: ${kept}`);
  }
  connection.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]));
  server.emit("connection", connection);
}

function withoutUpgrade(options: string): string {
  const kept = options.split(",").filter((option) => !/^\s*(upgrade|http2-settings)\s*$/i.test(option));
  return kept.join(",").trim();
}
