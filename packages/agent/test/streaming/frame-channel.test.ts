import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import { FrameChannel } from "../../src/streaming/frame-channel.js";
import { eventually } from "../support/eventually.js";

const hasty = { pingInterval: 20, deadAfter: 200 };
/** The peer runs in this thread too, and cannot answer pings while a test is busy. So allow it much time. */
const patient = { pingInterval: 20, deadAfter: 4000 };

let server: WebSocketServer;
let port: number;
beforeAll(async () => {
  server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Waits for the next connection. Resolves with its channel. */
async function accepted(beats = patient): Promise<FrameChannel<object>> {
  const [socket] = await once(server, "connection");
  return new FrameChannel<object>(socket, beats);
}

/** A peer that opens a WebSocket and then sends nothing. */
function mute(): Socket {
  const socket = connect(port, "127.0.0.1");
  const lines = ["GET / HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: websocket"];
  lines.push("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "");
  socket.write(lines.join("\r\n"));
  return socket.resume();
}

test("a peer that answers no ping is let go, and frames for it are not waited for", async () => {
  const opening = accepted(hasty);
  const peer = mute();
  const channel = await opening;
  const sent = channel.send({ type: "output", data: "never read" });
  await eventually("it is let go", () => channel.closed.aborted);
  await sent;
  peer.destroy();
});

test("a peer that answers stays, however little is said", async () => {
  const opening = accepted();
  const peer = new WebSocket(`ws://127.0.0.1:${port}`);
  const channel = await opening;
  let pings = 0;
  peer.on("ping", () => {
    pings += 1;
  });
  const opened = performance.now();
  await eventually(
    "it was asked for longer than a mute one may stay",
    () => pings > 15 && performance.now() - opened > patient.deadAfter + 200,
  );
  expect(channel.closed.aborted).toBe(false);
  await channel.finish();
  const [code] = await once(peer, "close");
  expect(code).toBe(1000);
});

test("frames arrive in the order they were sent in, each in a turn of its own", async () => {
  const opening = accepted();
  const peer = new WebSocket(`ws://127.0.0.1:${port}`);
  const channel = await opening;
  const received: unknown[] = [];
  let together = 0;
  let most = 0;
  peer.on("message", (data) => {
    received.push(JSON.parse(data.toString()));
    together += 1;
    most = Math.max(most, together);
    setImmediate(() => {
      together = 0;
    });
  });
  const frames = Array.from({ length: 50 }, (_, number) => ({ number }));
  await Promise.all(frames.map((frame) => channel.send(frame)));
  expect(received).toEqual(frames);
  expect(most).toBe(1);
  peer.terminate();
});
