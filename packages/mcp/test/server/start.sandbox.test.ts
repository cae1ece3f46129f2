import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { profiles } from "../../src/profiles/index.js";
import { selectTools } from "../../src/server/tool-selection.js";
import { serverFile } from "../support/mcp-connection.js";

type Message = Record<string, unknown>;

/** Sends messages to a server. Resolves with what it has written to stdout when that is `answers` messages. */
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

  it("does not change with an option that changes nothing, which loads the parser of options", async () => {
    const [plain] = await conversation([initialize(newest)], 1);
    const [parsed] = await conversation([initialize(newest)], 1, ["--toolsets", "default"]);
    expect(parsed).toEqual(plain);
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

it.each(profiles.map((profile) => [profile.name, profile] as const))(
  "the tools of profile %s that the build has written down are those of the sources",
  async (name, { load }) => {
    const messages = [initialize(newest), { jsonrpc: "2.0", id: 2, method: "tools/list" }];
    const args = ["--profile", name, "--toolsets", "all"];
    const answer = (await conversation(messages, 2, args)).find(({ id }) => id === 2);
    const expected = selectTools(await load(), { toolsets: ["all"] }).map(({ toolset: _, ...tool }) => tool);
    expect(answer).toMatchObject({ result: { tools: expected } });
  },
);

describe("compiled code", () => {
  const inCaches = async (work: (caches: string) => Promise<void>): Promise<void> => {
    const caches = mkdtempSync(join(tmpdir(), "caches-"));
    try {
      await work(caches);
    } finally {
      rmSync(caches, { recursive: true });
    }
  };
  const serve = async (caches: string): Promise<void> => {
    const env = { PATH: process.env.PATH, XDG_CACHE_HOME: caches, CLOUD_SANDBOX_BACKEND: "local" };
    const server = spawn(process.execPath, [serverFile], { env, stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(server, "exit");
    server.stdin.write(`${JSON.stringify(initialize(newest))}\n`);
    await once(server.stdout, "data");
    server.stdin.end();
    expect(await exited).toEqual([0, null]);
  };
  it("is stored in the user's own directory", () =>
    inCaches(async (caches) => {
      await serve(caches);
      expect(readdirSync(caches)).toContain("cloud-sandbox-mcp");
    }));

  it("is used by the next start if it is as it was written, and made anew otherwise", ({ skip }) => {
    skip("enableCompileCache" in nodeModule, "this Node.js checks its compile cache itself");
    return inCaches(async (caches) => {
      await serve(caches);
      const directory = join(caches, "cloud-sandbox-mcp");
      const name = readdirSync(directory).find((found) => found.startsWith("start-")) ?? "none";
      const file = join(directory, name);
      const written = statSync(file);
      expect(written.mode & 0o777).toBe(0o600);
      await serve(caches);
      expect(statSync(file).ino).toBe(written.ino);

      const damaged = readFileSync(file);
      damaged.fill(0xff, 1000, 2000);
      writeFileSync(file, damaged);
      await serve(caches);
      expect(readFileSync(file).equals(damaged)).toBe(false);

      chmodSync(file, 0o666);
      await serve(caches);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readdirSync(directory).filter((found) => found.startsWith("start-"))).toEqual([name]);
    });
  });

  it("does not keep the next start from loading a backend, and nothing warns of it", () =>
    inCaches(async (caches) => {
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
    }));

  it("is not stored where the directory is a file, and the server starts", () =>
    inCaches(async (caches) => {
      writeFileSync(join(caches, "cloud-sandbox-mcp"), "");
      await serve(caches);
    }));
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
