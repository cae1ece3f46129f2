import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { Writable } from "node:stream";
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
async function relaying(port: number): Promise<number> {
  const server = createServer((_, response) => {
    const call = request({ port, host: "127.0.0.1" }, (message) => {
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
  const port = await relaying(await chunking(pieces, size));
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect((await answer.text()).length).toBe(pieces * size);
});

/** Passes the answer of the server on `port` on to a reader that takes one piece, and the others when it is released. */
async function relayingToSlowReader(port: number) {
  let isSlow = true;
  let release = (): void => undefined;
  const reader = new Writable({
    write: (_piece, _encoding, done) => {
      if (isSlow) release = done;
      else done();
    },
  });
  const call = request({ port, host: "127.0.0.1" }).end();
  const [message] = (await once(call, "response")) as [IncomingMessage];
  let end: string | undefined;
  for (const each of [call, message]) each.on("error", () => undefined);
  message.once("close", () => (end = message.complete ? "whole" : "cut"));
  relayBody(message, reader);
  return {
    end: () => end,
    release: () => {
      isSlow = false;
      release();
    },
  };
}

test("a body in tiny pieces that nobody reads is cut, and one in larger pieces waits", async () => {
  const tiny = await relayingToSlowReader(await chunking(1_000_000, 1));
  const larger = await relayingToSlowReader(await chunking(40_000, 1000));
  await expect.poll(tiny.end).toBe("cut");
  expect(larger.end()).toBeUndefined();
  larger.release();
  await expect.poll(larger.end).toBe("whole");
});
