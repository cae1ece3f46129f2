import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import {
  AbortError,
  type Sandbox,
  type SandboxClientOptions,
  StreamClosedError,
  ValidationError,
} from "../../src/index.js";
import { rejection, testClient } from "../support/clients.js";
import { answerUpgrade, type FrameServer, frameServer, type ServedSocket } from "../support/frame-server.js";

const result = { type: "result", exit_code: 0, execution_time: 0.1 };
const complete = { type: "complete", success: true };
const out = (data: string): object => ({ type: "stdout", data });

async function sandboxOf(server: FrameServer, options: SandboxClientOptions = {}): Promise<Sandbox> {
  return testClient(server.url, {
    timeouts: { requestSeconds: 30, idleSeconds: 30 },
    ...options,
  }).sandboxes.get("abc");
}

/** Reads a stream to its end. Resolves with a text for each event. */
async function read(sandbox: Sandbox, options = {}): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of sandbox.executeStream("code", options)) {
    if (event.type === "stdout" || event.type === "stderr") texts.push(`${event.type} ${event.text}`);
    if (event.type === "result") texts.push(`result ${event.result.exitCode}`);
    if (event.type === "error") texts.push(`error ${event.error.code}`);
  }
  return texts;
}

/** Waits until all WebSockets that the server has opened are closed. */
async function allClosed(server: FrameServer): Promise<void> {
  await expect.poll(() => server.sockets.every(({ closed }) => closed)).toBe(true);
}

describe("a stream of an execution", () => {
  test("asks in the first frame, with the token in the handshake and the agent's path before its own", async () => {
    const server = await frameServer((_, socket) => socket.send(result, complete));
    const sandbox = await sandboxOf(server);
    const options = { language: "javascript", env: { A: "1" }, workdir: "/tmp", context: "c" };
    await sandbox.executeStream("1", { ...options, timeoutSeconds: 7 }).result();
    expect(server.upgrades[0]?.url).toBe("/agent/abc/execute/stream");
    expect(server.upgrades[0]?.headers.authorization).toMatch(/^Bearer eyJ/);
    expect(server.upgrades[0]?.headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
    expect(server.sockets[0]?.received).toEqual([
      { type: "execute", code: "1", capture_rich: true, ...options, timeout: 7 },
    ]);
    await allClosed(server);
  });

  test.each<[string, (socket: ServedSocket) => void, string[]]>([
    [
      "frames in one tick",
      (socket) => socket.send(out("1"), { type: "stderr", data: "2" }, out("3"), result, complete),
      ["stdout 1", "stderr 2", "stdout 3", "result 0"],
    ],
    ["empty frames", (socket) => socket.send("", out("1"), " ", result, complete), ["stdout 1", "result 0"]],
    [
      "frames of a newer server",
      (socket) => socket.send({ type: "progress" }, { other: 1 }, out("1"), result, complete),
      ["stdout 1", "result 0"],
    ],
    [
      "frames as bytes",
      (socket) => {
        socket.sendRaw(2, Buffer.from(JSON.stringify(out("ü"))));
        socket.send(result, complete);
      },
      ["stdout ü", "result 0"],
    ],
    [
      "a huge frame",
      (socket) => socket.send(out("x".repeat(3_000_000)), result, complete),
      [`stdout ${"x".repeat(3_000_000)}`, "result 0"],
    ],
    [
      "an error beside a result",
      (socket) => socket.send({ type: "error", error: "odd", code: "INVALID_REQUEST" }, result, complete),
      ["error INVALID_REQUEST", "result 0"],
    ],
  ])("accepts %s", async (_, behave, expected) => {
    const server = await frameServer((_, socket) => behave(socket));
    expect(await read(await sandboxOf(server))).toEqual(expected);
    await allClosed(server);
  });

  test("may be silent for longer than a request as long as the server answers pings", async () => {
    const server = await frameServer((_, socket) => {
      setTimeout(() => socket.send(result, complete), 4000);
    });
    const sandbox = await sandboxOf(server, { timeouts: { idleSeconds: 1.5 } });
    expect(await read(sandbox)).toEqual(["result 0"]);
  });

  test("renews a token that is refused, once", async () => {
    const server = await frameServer(
      (_, socket) => socket.send(result, complete),
      (request, connection) =>
        !request.headers.authorization?.includes("fresh") &&
        answerUpgrade(connection, 401, { error: "expired" }),
    );
    expect(await read(await sandboxOf(server))).toEqual(["result 0"]);
    expect(server.upgrades).toHaveLength(2);
  });

  test("ends with its signal, before, while and after it is opened, and leaves no listener behind", async () => {
    const server = await frameServer((_, socket) => socket.send(out("1")));
    const sandbox = await sandboxOf(server);
    const aborted = AbortSignal.abort("no");
    expect(await rejection(sandbox.executeStream("1", { signal: aborted }).result())).toBeInstanceOf(
      AbortError,
    );
    expect(server.upgrades).toHaveLength(0);
    const controller = new AbortController();
    const { signal } = controller;
    const pending = sandbox.executeStream("1", { signal }).result();
    const read: string[] = [];
    const reading = (async () => {
      for await (const event of sandbox.executeStream("1", { signal })) {
        read.push(event.type);
        controller.abort("enough");
      }
    })();
    expect(await rejection(reading)).toMatchObject({ name: "AbortError", reason: "enough" });
    expect(await rejection(pending)).toMatchObject({ name: "AbortError" });
    expect(read).toEqual(["stdout"]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    await allClosed(server);
  });

  test("is closed by leaving the loop, and by close() while it is opened", async () => {
    const server = await frameServer((_, socket) => socket.send(out("1"), out("2")));
    const sandbox = await sandboxOf(server);
    const stream = sandbox.executeStream("1");
    for await (const event of stream) {
      expect(event).toMatchObject({ type: "stdout", text: "1" });
      break;
    }
    expect(await rejection(stream.result())).toMatchObject({ code: "STREAM_LEFT" });
    const other = sandbox.executeStream("1");
    const pending = other.result();
    other.close();
    expect(await rejection(pending)).toBeInstanceOf(StreamClosedError);
    await allClosed(server);
  });

  test("is closed while its handshake is not answered", async () => {
    const server = await frameServer(
      () => undefined,
      () => true,
    );
    const stream = (await sandboxOf(server)).executeStream("1");
    const pending = stream.result();
    await expect.poll(() => server.upgrades.length).toBe(1);
    stream.close();
    expect(await rejection(pending)).toMatchObject({ code: "STREAM_LEFT" });
  });

  test("ends with its client", async () => {
    const server = await frameServer((_, socket) => socket.send(out("1")));
    const client = testClient(server.url);
    const pending = (await client.sandboxes.get("abc")).executeStream("1").result();
    await expect.poll(() => server.sockets[0]?.received.length).toBe(1);
    await client.close();
    expect(await rejection(pending)).toBeInstanceOf(StreamClosedError);
    await allClosed(server);
  });

  test("can be read once, and starts when it is read", async () => {
    const server = await frameServer((_, socket) => socket.send(result, complete));
    const sandbox = await sandboxOf(server);
    const stream = sandbox.executeStream("1");
    expect(server.upgrades).toHaveLength(0);
    await stream.result();
    expect(await stream.result()).toMatchObject({ exitCode: 0 });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow(ValidationError);
  });

  test("makes the server wait while its reader is slow", async () => {
    const chunk = out("x".repeat(256 * 1024));
    let sent = 0;
    const server = await frameServer((_, socket) => {
      const more = (): void => {
        while (sent < 400 && socket.connection.writableLength < 1_000_000) {
          sent += 1;
          socket.send(chunk);
        }
        if (sent < 400) setTimeout(more, 1);
        else socket.send(result, complete);
      };
      more();
    });
    const stream = (await sandboxOf(server)).executeStream("1")[Symbol.asyncIterator]();
    await stream.next();
    // Wait until the server cannot send any more: it has then sent what both kernels and both programs buffer.
    let before = -1;
    await expect
      .poll(
        () => {
          const isStill = sent === before;
          before = sent;
          return isStill;
        },
        { interval: 300 },
      )
      .toBe(true);
    expect(sent).toBeLessThan(120);
    let pieces = 1;
    for await (const event of { [Symbol.asyncIterator]: () => stream })
      if (event.type === "stdout") pieces += 1;
    expect(pieces).toBe(400);
  });

  test.each([
    ["code", [1, {}]],
    ["a language", ["1", { language: "" }]],
    ["a timeout", ["1", { timeoutSeconds: 0.5 }]],
    ["a context", ["1", { context: "" }]],
    ["a signal", ["1", { signal: "abort" }]],
  ])("is refused with an invalid %s", async (_, [code, options]) => {
    const server = await frameServer(() => undefined);
    const sandbox = await sandboxOf(server);
    const call = async () => sandbox.executeStream(code as string, options as object).result();
    expect(await rejection(call())).toBeInstanceOf(ValidationError);
    expect(server.upgrades).toHaveLength(0);
  });

  test("uses a WebSocket that the caller provides", async () => {
    const server = await frameServer((_, socket) => socket.send(out("1"), result, complete));
    const { WebSocket } = await import("undici");
    const seen: string[] = [];
    const sandbox = await sandboxOf(server, {
      webSocket: (url, { headers }) => {
        seen.push(url);
        return new WebSocket(url, { headers });
      },
    });
    expect(await read(sandbox)).toEqual(["stdout 1", "result 0"]);
    expect(seen).toEqual([`${server.url.replace("http", "ws")}/agent/abc/execute/stream`]);
  });
});
