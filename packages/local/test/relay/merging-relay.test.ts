import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { relayBody } from "../../src/relay/merging-relay.js";

async function portOf(server: Server | ReturnType<typeof createSocketServer>): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A server that sends chunked bodies: so many pieces of so many bytes. */
async function chunking(pieces: number, size: number): Promise<number> {
  const piece = Buffer.from(`${size.toString(16)}\r\n${"x".repeat(size)}\r\n`);
  const server = createSocketServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      const many = Buffer.concat(Array.from({ length: Math.min(pieces, 1000) }, () => piece));
      let left = pieces;
      const more = (): void => {
        while (left > 0 && !socket.destroyed) {
          left -= 1000;
          if (!socket.write(many)) return void socket.once("drain", more);
        }
        socket.end("0\r\n\r\n");
      };
      more();
    });
  });
  return portOf(server);
}

/** A server that passes the answer of the one on `port` on. */
async function relaying(port: number, onMessage: (message: IncomingMessage) => void): Promise<number> {
  const server = createServer((_, response) => {
    const call = request({ port, host: "127.0.0.1" }, (message) => {
      onMessage(message);
      message.on("error", () => response.destroy());
      relayBody(message, response);
    });
    call.on("error", () => response.destroy()).end();
  });
  return portOf(server);
}

test.each([
  ["one byte each", 100_000, 1],
  ["a thousand bytes each", 10_000, 1000],
])("a body in pieces of %s reaches a reader whole", async (_, pieces, size) => {
  const port = await relaying(await chunking(pieces, size), () => undefined);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect((await answer.text()).length).toBe(pieces * size);
});

test("a body in tiny pieces that nobody reads is cut, and one in larger pieces waits", async () => {
  const ends: string[] = [];
  const note = (name: string) => (message: IncomingMessage) =>
    message.once("close", () =>
      ends.push(message.readableAborted || !message.complete ? name : `${name} whole`),
    );
  const tiny = await relaying(await chunking(5_000_000, 1), note("tiny"));
  const larger = await relaying(await chunking(40_000, 1000), note("larger"));
  const readers = [tiny, larger].map((port) => {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    return socket.pause();
  });
  await expect.poll(() => ends).toEqual(["tiny"]);
  for (const reader of readers) reader.resume();
  await expect.poll(() => ends).toEqual(["tiny", "larger whole"]);
  for (const reader of readers) reader.destroy();
});
