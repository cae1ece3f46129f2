import { describe, expect, test } from "vitest";
import type { Terminal, TerminalOptions } from "../../src/index.js";
import { rejection, testClient } from "../support/clients.js";
import { answerUpgrade, type FrameServer, frameServer, type OnUpgrade } from "../support/frame-server.js";

async function open(server: FrameServer, options: TerminalOptions = {}): Promise<Terminal> {
  const client = testClient(server.url, { retry: false });
  return (await client.sandboxes.get("abc")).terminal.open({ resumable: true, ...options });
}

/** The query of the upgrade of this number. */
const query = (server: FrameServer, at: number): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(server.upgrades[at]?.url?.split("?")[1]));

const attached = (taken = 0, skipped = 0, kept = 60): object => ({
  type: "attached",
  kept_seconds: kept,
  taken,
  skipped_bytes: skipped,
});
const output = (data: string, position: number, taken = 0): object => ({
  type: "output",
  data,
  position,
  taken,
});
const exit = { type: "exit", code: 5 };

/** A server whose connections send these frames when they are open, the first the first ones. */
function serving(connections: readonly (readonly object[])[], refuses?: OnUpgrade): Promise<FrameServer> {
  return frameServer(
    () => undefined,
    refuses,
    (socket, count) => socket.send(...(connections[count - 1] ?? [])),
  );
}

describe("a resumable terminal", () => {
  test("goes on after its connection was lost, where its reader is", async () => {
    const events: unknown[] = [];
    const server = await serving([
      [attached(), output("one ", 4)],
      [attached(2, 7), output("two", 20), exit],
    ]);
    const terminal = await open(server, {
      cols: 100,
      resumable: {
        onLost: ({ name }) => void events.push(name),
        onReconnect: (event) => void events.push(event),
      },
    });
    await terminal.write("a");
    await terminal.resize({ cols: 120, rows: 40 });
    let shown = "";
    for await (const text of terminal) {
      shown += text;
      if (shown !== "one ") continue;
      server.sockets[0]?.connection.destroy();
      await terminal.write("b");
      await terminal.write("c");
    }
    expect(shown).toBe("one two");
    expect(await terminal.exitCode()).toBe(5);
    expect(events).toEqual(["StreamClosedError", { skippedBytes: 7 }]);
    const { session = "", ...first } = query(server, 0);
    expect(session.length).toBeGreaterThan(21);
    expect(first).toEqual({ cols: "100", rows: "24" });
    expect(query(server, 1)).toEqual({ cols: "120", rows: "40", session, received: "4" });
    // "a" and "b" were taken, as the server says.
    const resent = [{ type: "input", data: "c", number: 3 }];
    await expect.poll(() => server.sockets[1]?.received).toEqual(resent);
  });

  test("tries again while the server cannot be reached or refuses for a moment", async () => {
    const server = await serving(
      [
        [attached(), output("one", 3)],
        [attached(), exit],
      ],
      (_, connection, count) => {
        if (count === 2) connection.destroy();
        return count === 2 || (count === 3 && answerUpgrade(connection, 503, {}));
      },
    );
    const terminal = await open(server);
    await terminal.write("a");
    for await (const _ of terminal) server.sockets[0]?.connection.destroy();
    expect(await terminal.exitCode()).toBe(5);
    expect(server.upgrades).toHaveLength(4);
  });

  test.each([
    [404, "TERMINAL_NOT_FOUND", "NotFoundError"],
    [410, "SANDBOX_EXPIRED", "SandboxExpiredError"],
  ])("that is gone fails with what the server says: %s", async (status, code, name) => {
    const server = await serving([[attached(), output("one", 3)]], (_, connection, count) =>
      count > 1 ? answerUpgrade(connection, status, { error: { code, message: "It has ended." } }) : false,
    );
    const terminal = await open(server);
    await terminal.write("a");
    const reading = rejection(terminal.exitCode());
    await expect.poll(() => server.sockets[0]?.received.length).toBe(1);
    server.sockets[0]?.connection.destroy();
    expect(await reading).toMatchObject({ name, code });
    expect(await rejection(terminal.write("b"))).toMatchObject({ name, code });
  });

  test("that cannot be reached in time fails, and says so", async () => {
    const server = await serving([[attached(0, 0, 1), output("one", 3)]], (_, connection, count) => {
      if (count > 1) connection.destroy();
      return count > 1;
    });
    const terminal = await open(server);
    await terminal.write("a");
    const reading = rejection(terminal.exitCode());
    await expect.poll(() => server.sockets[0]?.received.length).toBe(1);
    server.sockets[0]?.connection.destroy();
    expect(await reading).toMatchObject({ name: "StreamClosedError", code: "TERMINAL_LOST" });
  });

  test("is left to the client that took it over", async () => {
    const taken = { type: "error", error: "Another connection has it.", code: "TERMINAL_TAKEN_OVER" };
    const server = await serving([[attached(), taken]]);
    const terminal = await open(server);
    await terminal.write("a");
    expect(await rejection(terminal.exitCode())).toMatchObject({
      name: "ConflictError",
      code: "TERMINAL_TAKEN_OVER",
    });
    expect(server.upgrades).toHaveLength(1);
  });

  test("tells a connection that seems lost from one that is closed on purpose", async () => {
    const server = await serving([[attached()], [attached(1), exit]]);
    const client = testClient(server.url, { timeouts: { idleSeconds: 1 } });
    const terminal = await (await client.sandboxes.get("abc")).terminal.open({ resumable: true });
    await terminal.write("a");
    const reading = terminal.exitCode();
    await expect.poll(() => server.sockets[0]?.received.length).toBe(1);
    const [first] = server.sockets;
    if (first) first.answersPings = false;
    await expect.poll(() => server.sockets.length).toBe(2);
    await expect.poll(() => first?.closeCode).toBe(4000);
    expect(await reading).toBe(5);
    await expect.poll(() => server.sockets[1]?.closeCode).toBe(1000);
  });

  test("stops trying when it is closed or aborted", async () => {
    for (const how of ["close", "abort"]) {
      const server = await serving([[attached(), output("one", 3)]], (_, __, count) => count > 1);
      const controller = new AbortController();
      const terminal = await open(server, { signal: controller.signal });
      await terminal.write("a");
      const reading = rejection(terminal.exitCode());
      await expect.poll(() => server.sockets[0]?.received.length).toBe(1);
      server.sockets[0]?.connection.destroy();
      await expect.poll(() => server.upgrades.length).toBe(2);
      if (how === "close") terminal.close();
      else controller.abort();
      expect(await reading).toMatchObject({ name: how === "close" ? "StreamClosedError" : "AbortError" });
    }
  });

  test("is an ordinary one where the server knows no sessions", async () => {
    const server = await serving([[{ type: "output", data: "one" }]]);
    const terminal = await open(server);
    await terminal.write("a");
    const reading = rejection(
      (async () => {
        for await (const _ of terminal) server.sockets[0]?.connection.destroy();
      })(),
    );
    expect(await reading).toMatchObject({ code: "STREAM_CLOSED" });
    expect(server.upgrades).toHaveLength(1);
  });

  test("waits before it keeps more than it may have to send again", async () => {
    const server = await frameServer((frame, socket) => {
      if (frame.number === 1) socket.send(attached());
      if (frame.number === 40) socket.send(output("", 0, 40));
      if (frame.data === "end") socket.send(exit);
    });
    const terminal = await open(server);
    await terminal.write("a");
    const reading = terminal.exitCode();
    await terminal.write("x".repeat(40 * 64 * 1024));
    await terminal.write("end");
    expect(await reading).toBe(5);
  });
});
