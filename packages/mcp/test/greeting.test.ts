import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { serverFile } from "./mcp-connection.js";

type Message = Record<string, unknown>;

/** What the server says to these messages, until it has said as much as is expected. */
async function conversation(messages: readonly unknown[], answers: number, args: readonly string[] = []) {
  const env = { PATH: process.env.PATH, CLOUD_SANDBOX_BACKEND: "local" };
  const server = spawn(process.execPath, [serverFile, ...args], { env, stdio: ["pipe", "pipe", "ignore"] });
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

describe("the first answer, which is given before the server is loaded", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2026-07-28", "1999-01-01", ""])(
    "is what the server says, to a client of %s",
    async (version) => {
      // With an option, the server itself answers.
      const [early] = await conversation([initialize(version)], 1);
      const [own] = await conversation([initialize(version)], 1, ["--toolsets", "default"]);
      expect(early).toEqual(own);
      expect(early).toMatchObject({ id: 1, result: { serverInfo: { name: "cloud-sandbox" } } });
    },
  );

  it("is given once, and what follows is answered in its order", async () => {
    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
    const messages = [
      initialize("2025-11-25", "first"),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      ping(2),
      ping(3),
    ];
    const said = await conversation(messages, 3);
    expect(said.map(({ id }) => id)).toEqual(["first", 2, 3]);
    expect(said[0]).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  it.each([
    ["that lacks what is required", { jsonrpc: "2.0", id: 1, method: "initialize", params: {} }],
    ["whose id is none", initialize("2025-11-25", 1.5)],
    ...[null, [], { roots: 5 }, { sampling: null }].map((capabilities): [string, Message] => [
      `with the capabilities ${JSON.stringify(capabilities)}`,
      initialize("2025-11-25", 1, { capabilities }),
    ]),
    [
      "of a client whose title is none",
      initialize("2025-11-25", 1, { clientInfo: { name: "test", version: "1.0.0", title: 4 } }),
    ],
  ])("is left to the server for a request %s", async (_, message) => {
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const said = await conversation([message, ping], 1);
    expect(said).not.toContainEqual(
      expect.objectContaining({ result: expect.objectContaining({ serverInfo: expect.anything() }) }),
    );
  });
});

it("ends when there is nothing on stdin at all", async () => {
  const server = spawn(process.execPath, [serverFile], { stdio: "ignore" });
  expect(await once(server, "exit")).toEqual([0, null]);
});

it("answers a client that takes its time, or sends its first message in pieces", async () => {
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
