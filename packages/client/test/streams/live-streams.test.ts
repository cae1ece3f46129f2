import { describe, expect, test } from "vitest";
import { type Sandbox, StreamClosedError, TimeoutError, ValidationError } from "../../src/index.js";
import { rejection, testClient } from "../support/clients.js";
import { type FrameServer, frameServer } from "../support/frame-server.js";

async function sandboxOf(server: FrameServer, request = 30): Promise<Sandbox> {
  return testClient(server.url, { timeouts: { requestSeconds: request, idleSeconds: 30 } }).sandboxes.get(
    "abc",
  );
}

async function allClosed(server: FrameServer): Promise<void> {
  await expect.poll(() => server.sockets.every(({ closed }) => closed)).toBe(true);
}

const result = { type: "result", exit_code: 0 };
const complete = { type: "complete", success: true };

describe("a stream of a command", () => {
  test.each([
    ["ls -l", { command: "bash", args: ["-c", "ls -l"] }],
    [["ls", "$HOME"], { command: "ls", args: ["$HOME"] }],
  ])("runs text in a shell and a list without one: %j", async (command, expected) => {
    const server = await frameServer((_, socket) => socket.send(result, complete));
    const options = { workdir: "/tmp", env: { A: "1" } };
    await (await sandboxOf(server)).commands.stream(command, { ...options, timeoutSeconds: 9 }).result();
    expect(server.sockets[0]?.received).toEqual([
      { type: "command", stdin: false, timeout: 9, ...options, ...expected },
    ]);
    expect(server.upgrades[0]?.url).toBe("/agent/abc/commands/stream");
  });

  const input = (frames: Record<string, unknown>[] = []): string =>
    frames
      .filter(({ type }) => type === "stdin")
      .map(({ data }) => Buffer.from(String(data), "base64").toString())
      .join("");
  async function* pieces() {
    yield "one ";
    yield new TextEncoder().encode("twö");
  }
  const long = "ä".repeat(300_000);

  test.each([
    ["text", "one twö", "one twö"],
    ["long text", long, long],
    ["bytes", new TextEncoder().encode("one"), "one"],
    ["a stream", pieces(), "one twö"],
  ])("writes %s to the command's input, and ends the input", async (_, stdin, expected) => {
    const server = await frameServer((frame, socket) => {
      if (frame.type === "stdin_close") socket.send(result, complete);
    });
    await (await sandboxOf(server)).commands.stream("cat", { stdin }).result();
    expect(input(server.sockets[0]?.received)).toBe(expected);
  });

  test("is started by empty input, and keeps what the command prints until it is read", async () => {
    const server = await frameServer((_, socket) => {
      socket.send({ type: "stdout", data: "started" }, result, complete);
    });
    const stream = (await sandboxOf(server)).commands.stream("cat", { stdin: true });
    await stream.write("");
    await expect.poll(() => server.sockets[0]?.received.map(({ type }) => type)).toEqual(["command"]);
    const events: string[] = [];
    for await (const { type } of stream) events.push(type);
    expect(events).toEqual(["stdout", "result"]);
    expect(server.sockets).toHaveLength(1);
  });

  test("is given what was written at once piece after piece, and the end of it last", async () => {
    const server = await frameServer((frame, socket) => {
      if (frame.type === "stdin_close") socket.send(result, complete);
    });
    const stream = (await sandboxOf(server)).commands.stream("cat", { stdin: true });
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(200_000));
    await Promise.all([...texts.map((text) => stream.write(text)), stream.end(), stream.result()]);
    expect(input(server.sockets[0]?.received)).toBe(texts.join(""));
    expect(server.sockets[0]?.received.at(-1)).toEqual({ type: "stdin_close" });
  });

  test.each([
    ["aborted", { name: "AbortError" }],
    ["closed", { name: "StreamClosedError", code: "INPUT_CUT" }],
  ])("says how much of its input was sent when it was %s", async (how, expected) => {
    const server = await frameServer((_, { connection, received }) => {
      if (received.length >= 3) connection.pause();
    });
    const controller = new AbortController();
    const { commands } = await sandboxOf(server);
    const stream = commands.stream("cat", { stdin: true, signal: controller.signal });
    // More than the connection takes while its server does not read.
    const long = rejection(stream.write(new Uint8Array(64 * 1024 * 1024)));
    const waiting = rejection(stream.write("later"));
    await expect.poll(() => server.sockets[0]?.received.length).toBeGreaterThanOrEqual(3);
    if (how === "aborted") controller.abort();
    else stream.close();
    expect(await long).toMatchObject({ ...expected, summary: expect.stringMatching(/At most \d+ of/) });
    expect(await waiting).toMatchObject({ name: expected.name });
  });

  test("stops reading an input that has more when the command has ended", async () => {
    const server = await frameServer((frame, socket) => {
      if (frame.type === "stdin") socket.send(result, complete);
    });
    let isLeft = false;
    let isAsked = false;
    const endless: AsyncIterator<string> = {
      async next() {
        if (isAsked) await new Promise(() => undefined);
        isAsked = true;
        return { value: "one" };
      },
      async return() {
        isLeft = true;
        return { done: true, value: undefined };
      },
    };
    const stdin = { [Symbol.asyncIterator]: () => endless };
    await (await sandboxOf(server)).commands.stream("cat", { stdin }).result();
    expect(isLeft).toBe(true);
  });

  test("does not fail if an input cannot be left", async () => {
    const server = await frameServer((frame, socket) => {
      if (frame.type === "stdin") socket.send(result, complete);
    });
    let isAsked = false;
    const stubborn = {
      async next() {
        if (isAsked) await new Promise(() => undefined);
        isAsked = true;
        return { value: "one" };
      },
      return() {
        throw new TypeError("It cannot be left");
      },
    };
    const stdin = { [Symbol.asyncIterator]: () => stubborn };
    const { exitCode } = await (await sandboxOf(server)).commands.stream("cat", { stdin }).result();
    expect(exitCode).toBe(0);
  });

  test("ends with the error of an input that fails", async () => {
    const server = await frameServer(() => undefined);
    const failing = {
      async *[Symbol.asyncIterator]() {
        yield "one";
        throw new Error("the disk is gone");
      },
    };
    const stream = (await sandboxOf(server)).commands.stream("cat", { stdin: failing });
    const error = await rejection(stream.result());
    expect(error).toMatchObject({ code: "INPUT_FAILED", cause: { message: "the disk is gone" } });
    await allClosed(server);
  });

  test.each([
    ["an empty command", "", {}],
    ["an empty list", [], {}],
    ["an input that is none", "cat", { stdin: 5 }],
    ["a timeout", "cat", { timeoutSeconds: 86_401 }],
  ])("is refused for %s", async (_, command, options) => {
    const server = await frameServer(() => undefined);
    const { commands } = await sandboxOf(server);
    expect(() => commands.stream(command, options as object)).toThrow(ValidationError);
    expect(await rejection(commands.stream("cat").write("1"))).toBeInstanceOf(ValidationError);
    expect(server.upgrades).toHaveLength(0);
  });
});

describe("a terminal", () => {
  test("types, resizes, shows and ends", async () => {
    const server = await frameServer((frame, socket) => {
      if (frame.type === "input")
        socket.send({ type: "output", data: `${frame.data}` }, { type: "output", data: "!" });
      if (frame.type === "resize") socket.send({ type: "exit", code: 5 });
    });
    const terminal = await (await sandboxOf(server)).terminal.open({ cols: 100, rows: 30, shell: "/bin/sh" });
    expect(server.upgrades[0]?.url).toBe("/agent/abc/terminal?cols=100&rows=30&shell=%2Fbin%2Fsh");
    await terminal.write("ls\r");
    await terminal.resize({ cols: 20, rows: 10 });
    let shown = "";
    for await (const text of terminal) shown += text;
    expect(shown).toBe("ls\r!");
    expect(await terminal.exitCode()).toBe(5);
    await allClosed(server);
  });

  test("whose connection breaks is not reported as ended", async () => {
    const server = await frameServer((_, socket) => socket.close(1000));
    const terminal = await (await sandboxOf(server)).terminal.open();
    await terminal.write("exit\r");
    expect(await rejection(terminal.exitCode())).toBeInstanceOf(StreamClosedError);
    terminal.close();
    await allClosed(server);
  });

  test("types what was written at once piece after piece", async () => {
    const server = await frameServer((frame, socket) => {
      if (frame.data === "end") socket.send({ type: "exit", code: 0 });
    });
    const terminal = await (await sandboxOf(server)).terminal.open();
    const texts = ["a".repeat(200_000), "b".repeat(200_000), "end"];
    await Promise.all([...texts.map((text) => terminal.write(text)), terminal.exitCode()]);
    expect(server.sockets[0]?.received.map(({ data }) => data).join("")).toBe(texts.join(""));
  });

  test("sends long text completely", async () => {
    const text = `${"x".repeat(64 * 1024 - 1)}😀${"y".repeat(10)}`;
    const server = await frameServer((frame, socket) => {
      if (String(frame.data).endsWith("y")) socket.send({ type: "exit", code: 0 });
    });
    const terminal = await (await sandboxOf(server)).terminal.open();
    await terminal.write(text);
    await terminal.exitCode();
    const frames = server.sockets[0]?.received ?? [];
    expect(frames.map(({ data }) => data).join("")).toBe(text);
    // No frame contains half of a surrogate pair, which would be half a character.
    expect(frames.filter(({ data }) => /\p{Surrogate}/u.test(String(data)))).toEqual([]);
  });

  test.each([{ cols: 0 }, { rows: 1001 }, { cols: 1.5 }, { shell: "" }])(
    "is refused for %j",
    async (options) => {
      const server = await frameServer(() => undefined);
      const { terminal } = await sandboxOf(server);
      expect(await rejection(terminal.open(options))).toBeInstanceOf(ValidationError);
      expect(server.upgrades).toHaveLength(0);
    },
  );
});

describe("a watch", () => {
  const ready = { type: "ready", path: "/workspace" };
  const change = (event: string, path: string): object => ({ type: "change", event, path });

  test("reports when it has begun, and every change, also those before", async () => {
    const server = await frameServer((_, socket) => {
      socket.send(change("created", "/workspace/a"), ready, change("deleted", "/workspace/a"));
    });
    const watch = (await sandboxOf(server)).files.watch("/workspace");
    await watch.ready();
    expect(server.sockets[0]?.received).toEqual([{ action: "watch", path: "/workspace", ready: true }]);
    const seen: string[] = [];
    for await (const { event, path } of watch) {
      seen.push(`${event} ${path}`);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(["created /workspace/a", "deleted /workspace/a"]);
    await allClosed(server);
  });

  test("can be read without asking whether it has begun", async () => {
    const server = await frameServer((_, socket) => socket.send(ready, change("modified", "/workspace/b")));
    for await (const { path } of (await sandboxOf(server)).files.watch("/workspace")) {
      expect(path).toBe("/workspace/b");
      break;
    }
    await allClosed(server);
  });

  test("says so if a server does not report its begin, or if the path cannot be watched", async () => {
    const silent = await frameServer(() => undefined);
    const error = await rejection((await sandboxOf(silent, 1)).files.watch("/workspace").ready());
    expect(error).toBeInstanceOf(TimeoutError);
    const refusing = await frameServer((_, socket) =>
      socket.send({ type: "error", error: "There is no /workspace/x.", code: "DIRECTORY_NOT_FOUND" }),
    );
    const watch = (await sandboxOf(refusing)).files.watch("/workspace/x");
    expect(await rejection(watch.ready())).toMatchObject({ name: "NotFoundError" });
    expect(await rejection(watch[Symbol.asyncIterator]().next())).toMatchObject({ name: "NotFoundError" });
    await allClosed(silent);
    await allClosed(refusing);
  });

  test("ends with its signal, and never as if nothing more happened", async () => {
    const server = await frameServer((_, socket) => socket.send(ready));
    const { files } = await sandboxOf(server);
    const controller = new AbortController();
    const watch = files.watch("/workspace", { signal: controller.signal });
    await watch.ready();
    const next = watch[Symbol.asyncIterator]().next();
    controller.abort();
    expect(await rejection(next)).toMatchObject({ name: "AbortError" });
    const cut = files.watch("/workspace");
    await cut.ready();
    server.sockets.at(-1)?.close(1001);
    expect(await rejection(cut[Symbol.asyncIterator]().next())).toBeInstanceOf(StreamClosedError);
    await allClosed(server);
  });
});
