import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { EgressLog } from "../../src/egress/egress-log.js";
import { echo, read, tcpServer } from "../support/egress-proxy.js";

const destination = { host: "a.example", port: 443 };
const nothing = { allowed: 0, refused: 0, failed: 0, dropped: 0, bytesSent: 0, bytesReceived: 0 };

async function connected(): Promise<Socket> {
  const server = await tcpServer(echo);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const socket = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true });
  await once(socket, "connect");
  return socket;
}

describe("an attempt in the egress log", () => {
  test("is pending until its outcome is known", () => {
    const log = new EgressLog();
    const before = Date.now();
    log.begin("socks5", destination);
    expect(log.entries).toMatchObject([
      {
        sequence: 1,
        protocol: "socks5",
        host: "a.example",
        port: 443,
        address: undefined,
        decision: "pending",
        reason: undefined,
        isOpen: false,
        bytesSent: 0,
        bytesReceived: 0,
      },
    ]);
    expect(log.entries[0]?.time.getTime()).toBeGreaterThanOrEqual(before);
    expect(log.totals).toEqual(nothing);
  });

  test.each(["refused", "failed"] as const)("that was %s says why", (decision) => {
    const log = new EgressLog();
    log.begin("http", destination).end(decision, "because");
    expect(log.entries).toMatchObject([{ decision, reason: "because", isOpen: false, bytesSent: 0 }]);
    expect(log.totals).toEqual({ ...nothing, [decision]: 1 });
  });

  test("that was allowed counts its bytes, while it is open and when it is closed", async () => {
    const log = new EgressLog();
    const socket = await connected();
    log.begin("connect", destination).allow(socket, "1.1.1.1");
    socket.write("hello");
    expect(String(await read(socket))).toBe("hello");
    const entry = { decision: "allowed", address: "1.1.1.1", bytesSent: 5, bytesReceived: 5 };
    const totals = { ...nothing, allowed: 1, bytesSent: 5, bytesReceived: 5 };
    expect(log.entries).toMatchObject([{ ...entry, isOpen: true }]);
    expect(log.totals).toEqual(totals);
    socket.destroy();
    await once(socket, "close");
    expect(log.entries).toMatchObject([{ ...entry, isOpen: false }]);
    expect(log.totals).toEqual(totals);
  });

  test("has a duration that ends with the connection", async () => {
    const log = new EgressLog();
    const attempt = log.begin("http", destination);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const soFar = attempt.durationMs;
    expect(soFar).toBeGreaterThanOrEqual(55);
    expect(soFar).toBeLessThan(30_000);
    expect(Number.isInteger(soFar)).toBe(true);
    attempt.end("failed", "because");
    const ended = attempt.durationMs;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(attempt.durationMs).toBe(ended);
    expect(ended).toBeGreaterThanOrEqual(soFar);
  });
});

test("attempts that the log has dropped are only counted", () => {
  const log = new EgressLog();
  log.noteDropped();
  log.noteDropped();
  expect(log.totals).toEqual({ ...nothing, dropped: 2 });
  expect(log.entries).toEqual([]);
});

test("the egress log keeps the last thousand attempts, and counts all", () => {
  const log = new EgressLog();
  for (let count = 1; count <= 2500; count += 1) {
    log.begin("http", destination).end("refused", String(count));
    const sequences = log.entries.map(({ sequence }) => sequence);
    if (
      sequences.length !== Math.min(count, 1000) ||
      sequences.at(-1) !== count ||
      sequences[0] !== Math.max(1, count - 999)
    )
      expect.fail(
        `After ${count}, there are ${sequences.length} from ${sequences[0]} to ${sequences.at(-1)}.`,
      );
  }
  expect(log.totals).toEqual({ ...nothing, refused: 2500 });
});

test("no open connection is dropped from the egress log, however many there are", async () => {
  const log = new EgressLog();
  const socket = await connected();
  log.begin("connect", destination).allow(socket, undefined);
  for (let count = 1; count <= 1999; count += 1) log.begin("http", destination).end("failed", "");
  socket.destroy();
  await once(socket, "close");
  expect(log.totals).toEqual({ ...nothing, allowed: 1, failed: 1999 });
});
