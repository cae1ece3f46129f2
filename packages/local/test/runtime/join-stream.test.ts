import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type ClientHttp2Stream, connect, constants, createServer, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createConnection, createServer as createSockets, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { joinStream } from "../../src/runtime/container/channel/join-stream.js";

/** Two ends of a stream, a socket that is joined to the near one, and the socket's reader, which reads nothing yet. */
interface Joined {
  readonly near: ClientHttp2Stream;
  readonly far: ServerHttp2Stream;
  readonly socket: Socket;
  readonly reader: Socket;
}

const channel = createServer();
const sockets = createSockets({ allowHalfOpen: true, pauseOnConnect: true });
let session: ReturnType<typeof connect>;

async function joined(path: string): Promise<Joined> {
  const taken = once(channel, "stream") as Promise<[ServerHttp2Stream]>;
  const near = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
  near.on("error", () => undefined);
  const [far] = await taken;
  far.on("error", () => undefined).respond({ ":status": 200 });
  const accepted = once(sockets, "connection") as Promise<[Socket]>;
  const socket = createConnection({ path, allowHalfOpen: true });
  const [reader] = await accepted;
  reader.on("error", () => undefined);
  joinStream(near, socket);
  return { near, far, socket, reader };
}

let joining: Joined;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "join-stream-"));
  const path = join(directory, "socket");
  sockets.listen(path);
  channel.listen(0, "127.0.0.1");
  await Promise.all([once(sockets, "listening"), once(channel, "listening")]);
  session = connect(`http://127.0.0.1:${(channel.address() as AddressInfo).port}`);
  joining = await joined(path);
});
afterEach(async () => {
  joining.reader.destroy();
  session.destroy();
  channel.close();
  sockets.close();
  await rm(directory, { recursive: true });
});

test("bytes that a slow reader has not read when the stream closes arrive", async () => {
  const { near, far, socket, reader } = joining;
  let sent = 0;
  // Until the system takes no more, so that what follows waits in this process.
  while (socket.writableLength === 0) {
    socket.write(Buffer.alloc(1024));
    sent += 1024;
    await new Promise(setImmediate);
  }
  const closed = once(near, "close");
  reader.end();
  far.resume().end("last");
  await closed;
  const arrived = await buffer(reader);
  expect([arrived.length, String(arrived.subarray(-4))]).toEqual([sent + 4, "last"]);
});

test("what the socket sends arrives whole, and each direction ends by itself", async () => {
  const { far, reader } = joining;
  const arriving = buffer(far);
  const text = Buffer.alloc(5_000_000, "y");
  reader.end(text);
  expect((await arriving).equals(text)).toBe(true);
  far.end("answer");
  expect(String(await buffer(reader))).toBe("answer");
});

test("a socket that breaks ends the stream as broken, not as ended", async () => {
  const { far, socket } = joining;
  const closed = once(far.resume(), "close");
  socket.destroy(new Error("broken"));
  await closed;
  expect([far.aborted, far.rstCode]).toEqual([true, constants.NGHTTP2_CANCEL]);
});

test("a stream that breaks ends the socket", async () => {
  const { far, reader } = joining;
  const closed = once(reader, "close");
  far.close(constants.NGHTTP2_CANCEL);
  reader.resume();
  reader.end();
  await closed;
});
