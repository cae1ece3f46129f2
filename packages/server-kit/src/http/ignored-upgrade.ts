import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

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
