import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ControlChannel, type Frame } from "../src/execution/control-channel.js";

/** Two connected sockets. */
async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer({ highWaterMark: 1 }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const sender = connect(port, "127.0.0.1").setNoDelay();
  const [receiver] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => {
    for (const socket of [sender, receiver]) socket.destroy();
    server.close();
  });
  return [sender, receiver];
}

const payload = "x".repeat(3000);
const frame = Buffer.concat([
  Buffer.from([0, 0, payload.length >> 8, (payload.length & 255) + 1]),
  Buffer.from(`R${payload}`),
]);

test("a frame that is sent byte by byte is read in pieces that are larger than a byte", async () => {
  const [sender, receiver] = await socketPair();
  let pieces = 0;
  const frames: (Frame | undefined)[] = [];
  receiver.on("data", () => (pieces += 1));
  new ControlChannel(receiver, (read) => frames.push(read));
  for (const byte of frame) {
    sender.write(Buffer.from([byte]));
    await turn();
  }
  await expect.poll(() => frames).toEqual([{ kind: "R", payload: Buffer.from(payload) }]);
  expect(pieces).toBeLessThan(frame.length / 3);
});

test("bytes that are no frame are told once, and their sender sees no error, however much more it sends", async () => {
  const [sender, receiver] = await socketPair();
  const frames: (Frame | undefined)[] = [];
  new ControlChannel(receiver, (read) => frames.push(read));
  const failed = once(sender, "error").then(() => true);
  sender.write(Buffer.alloc(8));
  await expect.poll(() => frames).toEqual([undefined]);
  const sent = new Promise((resolve) => sender.write(Buffer.concat(Array(10_000).fill(frame)), resolve));
  expect(await Promise.race([sent.then(() => false), failed])).toBe(false);
  await expect.poll(() => receiver.bytesRead).toBe(8 + 10_000 * frame.length);
  expect(frames).toEqual([undefined]);
});
