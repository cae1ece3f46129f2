import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { sandboxEnded } from "@cloud-sandbox/server-kit/handlers";
import { expect, test } from "vitest";
import { openRelayed } from "../../src/relay/relayed-socket.js";
import { GatewayRig, received, sandboxId, tokenFor, upgradeTo } from "../support/gateway-rig.js";

const accepted = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: cloud-sandbox-files\r\n\r\n`;
const token = tokenFor(sandboxId);
const protocol = "cloud-sandbox-files";
const opening = upgradeTo(protocol, `/agent/${sandboxId}/files/tunnel`, `Authorization: Bearer ${token}`);

test("a file tunnel carries bytes unchanged, both ways, also those sent with the head", async () => {
  const heads: string[] = [];
  await using rig = await GatewayRig.start((socket, head) => {
    const end = head.indexOf("\r\n\r\n") + 4;
    heads.push(head.slice(0, end));
    socket.write(`${accepted}this is not even HTTP,${head.slice(end)}`);
    socket.pipe(socket);
  });
  const client = rig.open(`${opening}early,`);
  const got = received(client);
  await expect.poll(got).toBe(`${accepted}this is not even HTTP,early,`);
  client.write("late");
  await expect.poll(got).toMatch(/late$/);
  expect(heads[0]).toBe(
    `GET /files/tunnel HTTP/1.1\r\nHost: agent\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
});

test("a file tunnel passes on no credentials of the account or of another sandbox", async () => {
  const heads: string[] = [];
  await using rig = await GatewayRig.start((socket, head) => {
    heads.push(head);
    socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
  });
  const head = upgradeTo(
    protocol,
    `/agent/${sandboxId}/files/tunnel`,
    "X-API-Key: account",
    "Cookie: session=1",
    `Authorization: Bearer ${tokenFor("another")}`,
  );
  expect(await text(rig.open(head))).toMatch(/^HTTP\/1\.1 409 [\s\S]*answered with status 401/);
  expect(heads[0]).not.toMatch(/authorization|api-key|cookie/i);
});

test("large answers arrive completely through a file tunnel, however slowly they are read", async () => {
  const content = randomBytes(32 * 1024 * 1024);
  await using rig = await GatewayRig.start((socket) => {
    socket.write(accepted);
    socket.end(content);
  });
  const client = rig.open(opening);
  client.pause();
  const pieces: Buffer[] = [];
  client.on("data", (piece: Buffer) => {
    pieces.push(piece);
    client.pause();
    setImmediate(() => client.resume());
  });
  client.resume();
  await once(client, "end");
  expect(Buffer.concat(pieces).subarray(accepted.length).equals(content)).toBe(true);
});

test("large requests arrive completely through a file tunnel, however slowly they are read", async () => {
  const content = randomBytes(32 * 1024 * 1024);
  const pieces: Buffer[] = [];
  let agent: Socket | undefined;
  await using rig = await GatewayRig.start((socket, head) => {
    pieces.push(Buffer.from(head.slice(head.indexOf("\r\n\r\n") + 4), "latin1"));
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      socket.pause();
      setImmediate(() => socket.resume());
    });
    agent = socket;
    socket.write(accepted);
  });
  const client = rig.open(opening);
  client.end(content);
  await expect.poll(() => agent?.readableEnded).toBe(true);
  expect(Buffer.concat(pieces).equals(content)).toBe(true);
});

test.each(["agent", "client"])("a file tunnel ends when the %s breaks off", async (who) => {
  const sockets: Socket[] = [];
  await using rig = await GatewayRig.start((socket) => {
    sockets.push(socket);
    socket.resume().write(accepted);
  });
  const client = rig.open(opening);
  await expect.poll(received(client)).toBe(accepted);
  const [breaks, other] = who === "agent" ? [sockets[0], client] : [client, sockets[0]];
  breaks?.destroy();
  if (other?.closed === false) await once(other, "end");
});

test("a file tunnel to a sandbox that was paused is closed with the next request", async () => {
  const asked: string[] = [];
  await using rig = await GatewayRig.start((socket) => {
    socket.setEncoding("latin1").on("data", (bytes: string) => asked.push(bytes));
    socket.write(accepted);
  });
  const client = rig.open(opening);
  await expect.poll(received(client)).toBe(accepted);
  rig.isPaused = true;
  client.write("GET /files/list HTTP/1.1");
  await expect.poll(() => client.readableEnded || client.destroyed).toBe(true);
  expect(asked).toEqual([]);
});

test("an upload to a sandbox that is paused is broken off", async () => {
  await using rig = await GatewayRig.start((socket) => socket.pause().write(accepted));
  const client = rig.open(opening);
  await expect.poll(received(client)).toBe(accepted);
  client.write(Buffer.alloc(16 * 1024 * 1024));
  // Wait until the connection takes no more data.
  let left: number;
  do {
    left = client.writableLength;
    await sleep(100);
  } while (client.writableLength < left);
  rig.isPaused = true;
  await expect.poll(() => client.destroyed || client.readableEnded).toBe(true);
});

test("a file tunnel whose caller does not read ends with its machine", async () => {
  const sockets: Socket[] = [];
  await using rig = await GatewayRig.start((socket) => {
    sockets.push(socket);
    socket.write(accepted);
    // Write more than the kernel buffers for a client that does not read.
    socket.write(Buffer.alloc(64 * 1024 * 1024));
  });
  const client = rig.open(opening);
  await once(client, "readable");
  expect(sockets[0]?.writableLength).toBeGreaterThan(0);
  rig.exit();
  await expect.poll(() => sockets[0]?.closed).toBe(true);
  client.destroy();
});

test("a file tunnel whose machine ends while it is opened is refused, and its connection closed", async () => {
  const sockets: Socket[] = [];
  await using rig = await GatewayRig.start((socket) => {
    sockets.push(socket.resume());
    rig.exit();
    socket.write(accepted);
  });
  expect(await text(rig.open(opening))).toMatch(/^HTTP\/1\.1 4\d\d /);
  await expect.poll(() => sockets[0]?.readableEnded).toBe(true);
});

test.each([
  [
    "another answer",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\n\r\nno",
    "answered with status 200",
  ],
  ["no HTTP", "hello there, who is it?\r\n\r\n", "with something that is not HTTP"],
])("an agent that answers with %s opens no file tunnel, and the connection ends", async (_, said, told) => {
  const sockets: Socket[] = [];
  await using rig = await GatewayRig.start((socket) => {
    sockets.push(socket.resume());
    socket.write(said);
  });
  const client = rig.open(`${opening}GET /v1/sandboxes HTTP/1.1\r\nX-API-Key: account\r\n\r\n`);
  const answer = await text(client);
  expect(answer).toMatch(/^HTTP\/1\.1 409 /);
  expect(answer).toContain(told);
  expect(answer).not.toMatch(/set-cookie|hello/i);
  await expect.poll(() => sockets[0]?.readableEnded).toBe(true);
});

test("a file tunnel may stay open for longer than opening it may take", async () => {
  await using rig = await GatewayRig.start((socket) => {
    socket.write(accepted);
    socket.pipe(socket);
  });
  const limit = new AbortController();
  const { socket } = await openRelayed({ path: rig.socketPath }, "hello", limit.signal);
  limit.abort();
  expect(socket.destroyed).toBe(false);
  socket.destroy();
  await expect(openRelayed({ path: rig.socketPath }, "hello", AbortSignal.abort())).rejects.toThrow(
    "closed before",
  );
});

test("a file tunnel to a sandbox that does not exist any more is refused at once", async () => {
  await using rig = await GatewayRig.start((socket) => socket.end(accepted));
  rig.sandbox = () => {
    throw sandboxEnded({ id: sandboxId, createdAt: new Date(0), expiresAt: new Date(0), end: "deleted" });
  };
  expect(await text(rig.open(opening))).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"SANDBOX_NOT_FOUND"/);
});

test("a file tunnel at the root needs a token", async () => {
  await using rig = await GatewayRig.start((socket) => socket.end(accepted));
  const answer = await text(rig.open(upgradeTo(protocol, "/files/tunnel")));
  expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*public_host/);
});

test("file tunnels are not offered for a port of a sandbox", async () => {
  const heads: string[] = [];
  await using rig = await GatewayRig.start((socket, head) => {
    heads.push(head);
    socket.end("HTTP/1.1 200 OK\r\n\r\n");
  });
  const head = upgradeTo(protocol, "/", "Connection: close").replace(
    "Host: localhost",
    `Host: 3000-${sandboxId}.localhost`,
  );
  await text(rig.open(head));
  expect(heads[0]).toMatch(/^CONNECT /);
});
