import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serverFile } from "../support/mcp-connection.js";

type Message = Record<string, unknown>;

/** Sends messages to a server. Resolves with what it has written to stdout when that is `answers` messages. */
async function conversation(messages: readonly unknown[], answers: number) {
  const env = { PATH: process.env.PATH, CLOUD_SANDBOX_BACKEND: "local" };
  const server = spawn(process.execPath, [serverFile], { env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(server, "exit");
  const said: Message[] = [];
  for (const message of messages) server.stdin.write(`${JSON.stringify(message)}\n`);
  for await (const line of createInterface(server.stdout)) {
    said.push(JSON.parse(line) as Message);
    if (said.length === answers) break;
  }
  server.stdin.end();
  expect(await exited).toEqual([0, null]);
  return said;
}

function initialize(protocolVersion: string, id: unknown = 1, given: object = {}): Message {
  const clientInfo = { name: "test", version: "1.0.0" };
  const params = { protocolVersion, capabilities: {}, clientInfo, ...given };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

const newest = "2025-11-25";

describe("the answer to initialize", () => {
  it.each([newest, "2025-06-18", "2025-03-26", "2024-11-05"])(
    "has the protocol version of a client of %s",
    async (version) => {
      const [answer] = await conversation([initialize(version)], 1);
      expect(answer).toMatchObject({
        id: 1,
        result: { protocolVersion: version, serverInfo: { name: "cloud-sandbox" } },
      });
    },
  );

  it("has the newest version with sessions for a client of an unknown version", async () => {
    const [answer] = await conversation([initialize("1999-01-01")], 1);
    expect(answer).toMatchObject({ id: 1, result: { protocolVersion: newest } });
  });

  it("is given once, and later requests are answered in their order", async () => {
    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
    const messages = [
      initialize(newest, "first"),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      ping(2),
      ping(3),
    ];
    const said = await conversation(messages, 3);
    expect(said.map(({ id }) => id)).toEqual(["first", 2, 3]);
  });

  it.each([
    ["lacks what is required", { jsonrpc: "2.0", id: 1, method: "initialize", params: {} }],
    ["has an id that is none", initialize(newest, 1.5)],
    ["has null for capabilities", initialize(newest, 1, { capabilities: null })],
    [
      "is of a client whose title is none",
      initialize(newest, 1, { clientInfo: { name: "test", version: "1.0.0", title: 4 } }),
    ],
  ])("is an error where the request %s", async (_, message) => {
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const said = await conversation([message, ping], 1);
    expect(said).not.toContainEqual(
      expect.objectContaining({ result: expect.objectContaining({ serverInfo: expect.anything() }) }),
    );
  });
});

it("the default list of tools is at least 30 tools and at most 32.5 kB", async () => {
  const messages = [initialize(newest), { jsonrpc: "2.0", id: 2, method: "tools/list" }];
  const answer = (await conversation(messages, 2)).find(({ id }) => id === 2);
  expect(answer).toMatchObject({ result: { tools: expect.any(Array) } });
  const { tools } = (answer as { result: { tools: unknown[] } }).result;
  expect(tools.length).toBeGreaterThanOrEqual(30);
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(32_500);
  expect(JSON.stringify(tools)).not.toMatch(/"vm_url"|"cache_stats"/);
});

it("a second start loads a backend as the first did, and nothing warns of it", async () => {
  const caches = mkdtempSync(join(tmpdir(), "caches-"));
  try {
    for (const start of ["first", "second"]) {
      const env = { PATH: process.env.PATH, XDG_CACHE_HOME: caches, CLOUD_SANDBOX_BACKEND: "local" };
      const server = spawn(process.execPath, [serverFile], { env });
      const exited = once(server, "exit");
      const warnings = text(server.stderr);
      const call = { name: "execute_code_isolated", arguments: { code: "print(6 * 7)" } };
      for (const message of [
        initialize(newest),
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: call },
      ])
        server.stdin.write(`${JSON.stringify(message)}\n`);
      const answers = createInterface(server.stdout)[Symbol.asyncIterator]();
      await answers.next();
      const answer = JSON.parse((await answers.next()).value as string) as Message;
      expect(answer, start).toMatchObject({ result: { structuredContent: { stdout: "42\n" } } });
      server.stdin.end();
      expect(await exited).toEqual([0, null]);
      expect((await warnings).split("\n"), start).toEqual([
        expect.stringContaining("local backend (bubblewrap)"),
        "",
      ]);
    }
  } finally {
    rmSync(caches, { recursive: true });
  }
});

it("the server ends when stdin is empty", async () => {
  const server = spawn(process.execPath, [serverFile], { stdio: "ignore" });
  expect(await once(server, "exit")).toEqual([0, null]);
});

it("the server answers a client that is slow, or sends its first message in pieces", async () => {
  const server = spawn(process.execPath, [serverFile], {
    env: { ...process.env, CLOUD_SANDBOX_BACKEND: "local" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const text = `${JSON.stringify(initialize("2025-11-25"))}\n`;
  const answered = once(server.stdout, "data");
  server.stdin.write(text.slice(0, 20));
  await new Promise((resolve) => setTimeout(resolve, 60));
  server.stdin.write(text.slice(20));
  expect(String(await answered)).toContain('"serverInfo"');
  server.stdin.end();
  expect(await once(server, "exit")).toEqual([0, null]);
});
