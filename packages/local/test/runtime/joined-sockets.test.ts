import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { joinSockets } from "../../src/runtime/host/joined-sockets.js";
import { tcpServer, text } from "../support/egress-proxy.js";

/** Two sockets that are joined to each other, and the other ends of both connections. */
async function joined(): Promise<{ ends: [Socket, Socket]; sockets: [Socket, Socket] }> {
  const accepted: Socket[] = [];
  const server = await tcpServer((socket) => accepted.push(socket));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const end = async (): Promise<Socket> => {
    const socket = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true });
    socket.on("error", () => socket.destroy());
    onTestFinished(() => void socket.destroy());
    const count = accepted.length;
    await expect.poll(() => accepted.length).toBe(count + 1);
    return socket;
  };
  const ends: [Socket, Socket] = [await end(), await end()];
  const sockets = accepted as [Socket, Socket];
  joinSockets(...sockets);
  return { ends, sockets };
}

test("joined sockets carry bytes both ways until both have ended", async () => {
  const {
    ends: [one, other],
  } = await joined();
  one.end("question");
  expect(await text(other)).toBe("question");
  other.end("answer");
  expect(await text(one)).toBe("answer");
});

test.each([0, 1])("when socket %d is closed in the middle, the joined one is closed too", async (gone) => {
  const { sockets } = await joined();
  const [leaver, stayer] = [sockets[gone], sockets[1 - gone]] as [Socket, Socket];
  const closed = once(stayer, "close");
  leaver.destroy();
  await closed;
});

test.each([0, 1])("when socket %d breaks after its end, the joined one is closed too", async (broken) => {
  const { ends, sockets } = await joined();
  ends[broken]?.end();
  const breaker = sockets[broken] as Socket;
  await expect.poll(() => breaker.readableEnded).toBe(true);
  const closed = once(sockets[1 - broken] as Socket, "close");
  breaker.destroy(new Error("broken"));
  await closed;
});

test.each([0, 1])("what socket %d sent before it was closed arrives at the joined one", async (left) => {
  const { ends, sockets } = await joined();
  ends[left]?.end("the last word");
  const leaver = sockets[left] as Socket;
  await expect.poll(() => leaver.readableEnded).toBe(true);
  leaver.destroy();
  expect(await text(ends[1 - left] as Socket)).toBe("the last word");
});
