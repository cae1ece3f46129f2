import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { Client as ClientOfV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { isSandboxError, type RequestEvent, SandboxClient } from "cloud-sandbox";
import { McpRunner, type McpServerOptions, SandboxStdioTransport } from "cloud-sandbox-mcp-runner";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const program = readFileSync(new URL("server.py", import.meta.url), "utf8");
const secret = "a-secret-that-nobody-else-may-see";

let server: LocalServer;
let client: SandboxClient;
let runner: McpRunner;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "2"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  runner = new McpRunner({ client, startSeconds: 20, callSeconds: 20 });
  runner.addServer(plain("plain", { env: { SECRET_KEY: secret } }));
});
afterAll(async () => {
  await runner?.close();
  await client?.close();
  await server?.stop();
});

/** Options for the test's own MCP server. It is passed to python3 as an argument, so nothing must be installed. */
function plain(name: string, options: Partial<McpServerOptions> = {}, ...args: string[]): McpServerOptions {
  return { name, command: "python3", args: ["-c", program, ...args], ...options };
}

/** A reference to a variable as configurations spell it: `${NAME}`. */
function reference(name: string): string {
  return ["$", "{", name, "}"].join("");
}

async function sandboxes(): Promise<number> {
  let count = 0;
  for await (const _ of client.sandboxes.list()) count += 1;
  return count;
}

/** Resolves with the error that a call rejects with. Fails if the call succeeds. */
async function failure(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => expect.unreachable("The call should fail."),
    (error: Error) => error,
  );
}

describe("a runner", () => {
  test("lists and calls the tools of a server, each time in a sandbox of its own", async () => {
    const tools = await runner.discoverTools("plain");
    expect(tools.map(({ name }) => name)).toContain("echo");
    const result = await runner.executeTool("plain", "echo", { text: "hello" });
    expect(result.content).toEqual([{ type: "text", text: "hello" }]);
    expect(await sandboxes()).toBe(0);
  });

  test("ends sessions that are being started when it is closed, and starts none afterwards", async () => {
    for (const milliseconds of [0, 50, 300]) {
      const own = new McpRunner({ client });
      own.addServer(plain("late", { command: "sh", args: ["-c", "sleep 5"] }));
      const start = failure(own.createSession("late"));
      await sleep(milliseconds);
      await own.close();
      // The client deletes a sandbox whose creation was given up as soon as it knows the id.
      await expect.poll(sandboxes).toBe(0);
      expect((await start).name).toBe("AbortError");
      expect((await failure(own.createSession("late"))).name).toBe("AbortError");
    }
  });

  test("keeps a session until it is closed, and its sandbox no longer", async () => {
    {
      await using session = await runner.createSession("plain");
      expect(session.sessionId).toMatch(/^[0-9a-f-]{36}$/);
      expect((await client.sandboxes.connect(session.sandboxId)).id).toBe(session.sandboxId);
      await session.callTool("echo", { text: "1" });
      await session.callTool("echo", { text: "2" });
    }
    expect(await sandboxes()).toBe(0);
  });

  test("does not check a structured result with the server's own schema, which could block the program", async () => {
    await using session = await runner.createSession("plain");
    const tools = await session.listTools();
    expect(tools.find(({ name }) => name === "structured")).toHaveProperty("outputSchema");
    const { structuredContent } = await session.callTool("structured");
    expect(structuredContent).toEqual({ word: "a".repeat(20) });
  });

  test("lists no tools of a server that has none, and writes nothing to standard output", async () => {
    const own = new McpRunner({ client });
    own.addServer(plain("bare", {}, "no-tools"));
    const written = vi.spyOn(console, "debug");
    expect(await own.discoverTools("bare")).toEqual([]);
    expect(written).not.toHaveBeenCalled();
  });

  test("runs sessions at the same time", async () => {
    const results = await Promise.all(
      ["a", "b", "c"].map((text) => runner.executeTool("plain", "echo", { text })),
    );
    expect(results.map(({ content }) => content)).toEqual(
      ["a", "b", "c"].map((text) => [{ type: "text", text }]),
    );
    expect(await sandboxes()).toBe(0);
  });

  test("accepts configurations of servers in other programs' spelling", async () => {
    const own = new McpRunner({ client });
    own.addServerFromDict("theirs", {
      command: "python3 server.py",
      install_commands: ["echo"],
      timeout_minutes: 5,
      env: { A: "1" },
      description: "from e2b-mcp",
    });
    own.addServerFromDict("assistants", { type: "stdio", command: "npx", args: ["-y", "x"], cwd: "/tmp" });
    expect(own.listServers()).toMatchObject([
      { name: "theirs", installCommands: ["echo"], timeoutMinutes: 5, template: "code-interpreter" },
      { name: "assistants", command: "npx", args: ["-y", "x"], workdir: "/tmp", timeoutMinutes: 10 },
    ]);
    expect([own.removeServer("theirs"), own.removeServer("theirs")]).toEqual([true, false]);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["a name with a space", "my server", { command: "x" }, /letters, digits/],
    ["no command", "a", {}, /command is missing/],
    ["a number for a command", "a", { command: 5 }, /command expected string/],
    [
      "a value that is a number, without the value",
      "a",
      { command: "x", env: { K: 4711 } },
      /env\.K expected string/,
    ],
    ["unknown keys", "a", { command: "x", comand: "y" }, /unknown keys: comand/],
    ["a server elsewhere", "a", { url: "https://example.com/mcp" }, /runs elsewhere/],
    ["no time", "a", { command: "x", timeoutMinutes: 0 }, /timeoutMinutes/],
    ["a path without a port", "a", { command: "x", path: "/mcp" }, /needs port as well/],
    ["a name that is taken", "plain", { command: "x" }, /already/],
  ])("refuses %s", (_, name, dict, message) => {
    const add = (): void => runner.addServerFromDict(name, dict);
    expect(add).toThrow(message);
    expect(add).toThrow(expect.objectContaining({ name: "McpConfigurationError" }));
    expect(add).not.toThrow(/4711/);
  });

  test("names the servers that there are, for one that there is not", async () => {
    expect(await failure(runner.discoverTools("nope"))).toMatchObject({
      name: "McpConfigurationError",
      hint: "The servers are: plain.",
    });
  });
});

describe("a transport", () => {
  test.each([
    ["the SDK of today", () => new Client({ name: "t", version: "1" })],
    ["the SDK before it", () => new ClientOfV1({ name: "t", version: "1" }) as unknown as Client],
  ])("serves a client of %s, and answers messages that are sent at once", async (_, makeClient) => {
    await using sandbox = await client.sandboxes.create({ internetAccess: false });
    const mcp = makeClient();
    await mcp.connect(new SandboxStdioTransport(sandbox, { command: ["python3", "-c", program] }));
    // A message of more than 700,000 characters is sent in several frames.
    const texts = ["short", "x".repeat(700_000), "y".repeat(700_001), "end"];
    const results = await Promise.all(
      texts.map((text) => mcp.callTool({ name: "length", arguments: { text } })),
    );
    expect(results.map(({ content }) => content)).toEqual(
      texts.map(({ length }) => [{ type: "text", text: String(length) }]),
    );
    await mcp.close();
  });

  test("lets a server end by itself when it is closed", async () => {
    await using sandbox = await client.sandboxes.create({ internetAccess: false });
    const mcp = new Client({ name: "t", version: "1" });
    const command = `python3 -c "$PROGRAM"; echo ended > /tmp/ended`;
    const transport = new SandboxStdioTransport(sandbox, { command, env: { PROGRAM: program } });
    await mcp.connect(transport);
    await mcp.close();
    expect(await sandbox.files.readText("/tmp/ended")).toBe("ended\n");
  });

  test("refuses messages that are too long, both ways", async () => {
    await using sandbox = await client.sandboxes.create({ internetAccess: false });
    const mcp = new Client({ name: "t", version: "1" });
    const transport = new SandboxStdioTransport(sandbox, {
      command: ["python3", "-c", program],
      maxMessageLength: 10_000,
    });
    await mcp.connect(transport);
    const sent = mcp.callTool({ name: "length", arguments: { text: "x".repeat(20_000) } });
    expect(await failure(sent)).toMatchObject({ name: "McpProtocolError", code: "MESSAGE_TOO_LARGE" });
    await failure(mcp.callTool({ name: "large", arguments: { size: 20_000 } }));
    expect(transport.failure).toMatchObject({ name: "McpProtocolError", code: "MESSAGE_TOO_LARGE" });
  });
});

describe("what a server does wrong is a typed error, and leaves no sandbox", () => {
  const inCalls: [string, string, object, RegExp][] = [
    ["that fails", "fail", { name: "McpToolError", code: "TOOL_FAILED" }, /"fail".*failed/],
    ["that is not there", "nope", { name: "McpToolError", code: "TOOL_NOT_FOUND" }, /tools are: echo, /],
    ["that ends the server", "exit", { name: "McpProtocolError", code: "SERVER_ENDED" }, /code 3.*giving up/],
    ["that never answers", "hang", { name: "TimeoutError", kind: "request" }, /did not answer/],
    ["that answers another request", "other-id", { code: "UNKNOWN_REQUEST_ID" }, /never sent, 4711/],
    ["that answers with a secret for an id", "secret-id", { code: "UNKNOWN_REQUEST_ID" }, /"\[hidden\]"/],
    ["that is refused with a secret", "refuse", { code: "TOOL_REFUSED" }, /"refuse": \[hidden\]/],
    ["that hides behind a secret", "rename", { code: "TOOL_NOT_FOUND" }, /tools are: \[hidden\]_/],
    ["that floods", "flood", { name: "McpProtocolError", code: "NOT_A_MESSAGE" }, /not an MCP message/],
    ["that notifies without end", "notifications", { name: "TimeoutError" }, /did not answer/],
    ["that asks for sampling", "sampling", { name: "McpToolError" }, /asked for sampling\/createMessage/],
    ["that answers in another form", "wrong", { name: "McpProtocolError", code: "INVALID_RESULT" }, /wrong/],
  ];

  test.each(inCalls)("a tool %s", async (_, tool, expected, message) => {
    const call = runner.executeTool("plain", tool, {}, { timeoutSeconds: 3 });
    const error = await failure(call);
    expect(error).toMatchObject(expected);
    expect(error.message).toMatch(message);
    expect(isSandboxError(error)).toBe(true);
    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain(secret);
    expect(error.message.length).toBeLessThan(5_000);
    expect(await sandboxes()).toBe(0);
  });

  const fetching =
    "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT packages.test:443 HTTP/1.1\\r\\n\\r\\n' >&3; read -r -u 3";
  const atStart: [string, McpServerOptions, object, RegExp][] = [
    [
      "a program that is not there",
      { name: "s", command: "no-such-program --x" },
      { name: "McpStartError" },
      /install/,
    ],
    [
      "one that is not there, with arguments",
      { name: "s", command: "no-such-program", args: [] },
      { name: "McpStartError" },
      /no-such-program/,
    ],
    ["one that ends", plain("s", {}, "dies"), { name: "McpStartError" }, /code 9.*without a licence/],
    [
      "one that says why on standard output, and in the middle of a line",
      { name: "s", command: "echo fetching; echo warning >&2; printf 'no package'; exit 4" },
      { name: "McpStartError", code: "SERVER_NOT_STARTED" },
      /ended with exit code 4 before it answered\. It wrote: fetching \| no package \| warning\. Read what the server wrote, and correct its command\./,
    ],
    [
      "one that is not there, after other lines",
      { name: "s", command: "echo first >&2; no-such-program" },
      { name: "McpStartError", code: "SERVER_NOT_STARTED" },
      /^The server did not start\. It wrote: first \| [^.]*no-such-program: command not found\. The server's program is not in/,
    ],
    [
      "one whose packages cannot be fetched, and that does not say so",
      { name: "s", internet: ["allowed.test"], command: `${fetching}; exit 1` },
      { name: "McpStartError", code: "SERVER_NOT_STARTED" },
      /exit code 1 before it answered\. packages\.test:443 is not on .*egress\.allow/,
    ],
    [
      "one whose packages cannot be fetched, and that tries again in silence",
      { name: "s", internet: ["allowed.test"], command: `${fetching}; sleep 60` },
      { name: "McpStartError", code: "SERVER_SILENT" },
      /did not answer within 8 s after its start\. packages\.test:443 is not on .*egress\.allow/,
    ],
    [
      "one that says nothing",
      plain("s", {}, "mute"),
      { name: "McpStartError", code: "SERVER_SILENT" },
      /did not answer within 2 s/,
    ],
    [
      "one of an unknown version",
      plain("s", { env: { SECRET_KEY: secret } }, "newer"),
      { name: "McpStartError", code: "SERVER_NOT_STARTED" },
      /version is not supported: 3000-01-01 \[hidden\]/,
    ],
    [
      "one that is no MCP server",
      plain("s", {}, "noise-only"),
      { name: "McpProtocolError", code: "NOT_A_MESSAGE" },
      /Usage: server/,
    ],
    [
      "an install command that fails",
      plain("s", { installCommands: ["echo installing", "echo no such package >&2; exit 4"] }),
      { name: "McpInstallError", output: expect.stringContaining("no such package") },
      /no such package/,
    ],
    [
      "a variable that is not set",
      plain("s", { env: { K: reference("NOT_SET_HERE") } }),
      { code: "VARIABLE_MISSING" },
      /NOT_SET_HERE/,
    ],
  ];

  test.each(atStart)("%s", async (_, options, expected, message) => {
    // One that is silent is silent at once; others need time to say something on a machine that is busy.
    const own = new McpRunner({ client, startSeconds: options.args?.includes("mute") ? 2 : 8 });
    own.addServer(options);
    const error = await failure(own.discoverTools("s"));
    expect(error).toMatchObject(expected);
    expect(error.message).toMatch(message);
    expect(await sandboxes()).toBe(0);
  });

  test("a greeting on standard output is passed over", async () => {
    const own = new McpRunner({ client });
    own.addServer(plain("noisy", {}, "noisy"));
    await using session = await own.createSession("noisy");
    const errors: Error[] = [];
    session.client.onerror = (error) => errors.push(error);
    expect((await session.callTool("garbage")).content).toEqual([{ type: "text", text: "after garbage" }]);
    expect(errors).toMatchObject([{ code: "NOT_A_MESSAGE" }]);
  });

  test("a call is cancelled by its signal", async () => {
    await using session = await runner.createSession("plain");
    const cancel = new AbortController();
    const call = session.callTool("hang", {}, { signal: cancel.signal });
    cancel.abort();
    await expect(call).rejects.toThrow();
  });
});

describe("variables", () => {
  test("reach the server, and nothing else that can be read", async () => {
    await using session = await runner.createSession("plain");
    const { content } = await session.callTool("variable", { name: "SECRET_KEY" });
    expect(content).toEqual([{ type: "text", text: secret }]);
    const { sandbox } = session;
    const { stdout } = await sandbox.commands.run(
      `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'; grep -rl ${secret.slice(0, 12)} /workspace /tmp "$HOME" | head`,
    );
    expect(stdout).toContain("python3");
    expect(stdout.replace(/.*grep -rl.*/g, "")).not.toContain(secret.slice(0, 12));
    expect(JSON.stringify(await sandbox.processes.list())).not.toContain(secret);
    expect(server.log()).not.toContain(secret);
  });

  test("are taken from this process's where the configuration says so", async () => {
    const own = new McpRunner({ client, environment: { MINE: "from here" } });
    own.addServer(plain("own", { env: { A: reference("MINE"), B: reference("OTHER:-otherwise") } }));
    await using session = await own.createSession("own");
    const value = async (name: string) => (await session.callTool("variable", { name })).content[0];
    expect(await value("A")).toMatchObject({ text: "from here" });
    expect(await value("B")).toMatchObject({ text: "otherwise" });
  });

  test("are hidden from results on demand, also as numbers and where they look like JSON", async () => {
    const own = new McpRunner({ client });
    own.addServer(plain("pin", { env: { PIN: "12345678", QUOTES: '","text' } }));
    await using session = await own.createSession("pin");
    const { structuredContent } = await session.callTool("number");
    expect(structuredContent).toEqual({ pin: 12345678, other: 7 });
    expect(session.withoutVariables(structuredContent)).toEqual({ pin: "[hidden]", other: 7 });
    const texts = { texts: ["a", "text", 'in quotes: ","text'] };
    expect(session.withoutVariables(texts)).toEqual({ texts: ["a", "text", "in quotes: [hidden]"] });
  });
});

describe("install commands", () => {
  test("run once, for sessions that start at the same time as well", async () => {
    const log: string[] = [];
    const own = new McpRunner({ client, onInstallLog: (line) => log.push(line) });
    const installCommands = [
      `mkdir -p /opt/installed`,
      `date +%N > /opt/installed/when; echo installed-$((6 * 7))`,
    ];
    own.addServer(plain("one", { installCommands }));
    own.addServer(plain("two", { installCommands }));
    const listed = await Promise.all(
      ["one", "two", "one"].map((name) => own.executeTool(name, "files", { path: "/opt/installed" })),
    );
    expect(listed.map(({ content }) => content)).toEqual(
      listed.map(() => [{ type: "text", text: '["when"]' }]),
    );
    expect(log.filter((line) => line.endsWith("installed-42"))).toHaveLength(1);
  });

  test("run for the others when the session that ran them for all is given up", async () => {
    const own = new McpRunner({ client });
    own.addServer(plain("left", { installCommands: ["sleep 2"] }));
    const left = new AbortController();
    const first = own.createSession("left", { signal: left.signal });
    const given = failure(first);
    await sleep(700);
    const second = own.executeTool("left", "echo", { text: "here" });
    await sleep(300);
    left.abort();
    expect((await given).name).toBe("AbortError");
    expect((await second).content).toEqual([{ type: "text", text: "here" }]);
  });

  test("cost nothing when they ran before: the sandbox is created without a question", async () => {
    const requests: string[] = [];
    const hooks = {
      onRequest: ({ method, operation }: RequestEvent) => void requests.push(`${method} ${operation}`),
    };
    const watched = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url, hooks });
    const own = new McpRunner({ client: watched });
    own.addServer(plain("kept", { installCommands: ["touch /opt/kept"] }));
    await own.executeTool("kept", "echo", { text: "installs" });
    requests.length = 0;
    await own.executeTool("kept", "echo", { text: "is installed" });
    expect(requests).toEqual(["POST /v1/sandboxes", "GET /commands/stream", "DELETE /v1/sandboxes/{id}"]);
    await watched.close();
  });

  test("run again when their template was deleted", async () => {
    const log: string[] = [];
    const own = new McpRunner({ client, onInstallLog: (line) => log.push(line) });
    own.addServer(plain("deleted", { installCommands: ["echo installed-$((6 * 7)) >&2"] }));
    for (const _ of ["first", "second"]) {
      await own.executeTool("deleted", "echo", { text: "a" });
      const names: string[] = [];
      for await (const { name } of client.templates.list()) if (name.startsWith("mcp-")) names.push(name);
      for (const name of names) await client.templates.delete(name);
    }
    expect(log.filter((line) => line.endsWith("installed-42"))).toHaveLength(2);
  });
});
