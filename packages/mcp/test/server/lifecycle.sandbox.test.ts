import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { descendants, hostProcesses } from "../../../../test/support/host-processes.js";
import { connect, serverFile } from "../support/mcp-connection.js";

describe("the server ends within two seconds and leaves nothing", () => {
  it.each([
    ["when stdin ends", (server: ChildProcessWithoutNullStreams) => server.stdin.end()],
    [
      "when stdout breaks and stdin ends",
      (server: ChildProcessWithoutNullStreams) => server.stdout.destroy() && server.stdin.end(),
    ],
    ["on SIGTERM", (server: ChildProcessWithoutNullStreams) => server.kill("SIGTERM")],
    ["on SIGINT", (server: ChildProcessWithoutNullStreams) => server.kill("SIGINT")],
  ])("%s, with sandboxes alive and code running", async (_, end) => {
    const { server, directory, request } = start();
    await request("initialize", initialize);
    const created = await request("tools/call", { name: "create_sandbox", arguments: {} });
    const sandbox_id = created.result.structuredContent.id;
    const sleeping = { sandbox_id, language: "bash", code: "touch /tmp/started; sleep 4711" };
    void request("tools/call", { name: "execute_code", arguments: sleeping });
    void request("tools/call", {
      name: "execute_code_isolated",
      arguments: { language: "bash", code: "sleep 4711" },
    });
    await until(() => isRunning(server.pid, "sleep 4711", 2));
    const family = [server.pid, ...descendants(server.pid ?? 0).map(({ pid }) => pid)];
    expect(readdirSync(directory)).not.toEqual([]);

    const exited = once(server, "exit");
    const startedAt = performance.now();
    end(server);
    const [code] = await exited;
    // Less than the hour that the calls would take. The limit is generous, because the machine may be busy.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(code).toBe(0);
    await until(() => hostProcesses().every(({ pid }) => !family.includes(pid)));
    // The server's guard removes files that the server had no time to remove.
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });

  it("when stdin ends behind more requests than a client that reads nothing leaves room to answer", async () => {
    const env = { ...process.env, CLOUD_SANDBOX_API_KEY: "k", CLOUD_SANDBOX_BASE_URL: "http://127.0.0.1:1" };
    const server = spawn(process.execPath, [serverFile], { env });
    const exited = once(server, "exit");
    const send = (message: object): boolean =>
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 0, method: "initialize", params: initialize });
    const sentAt = performance.now();
    for (let id = 1; id < 5000; id += 1) send({ id, method: "tools/list" });
    server.stdin.end();
    const [code] = await exited;
    expect(code).toBe(0);
    // Less than the minute that it would take to answer all requests.
    expect(performance.now() - sentAt).toBeLessThan(30_000);
  });

  it("while the backend is still opening", async () => {
    const { server, directory, request } = start();
    await request("initialize", initialize);
    const exited = once(server, "exit");
    server.stdin.end();
    await exited;
    await until(() => descendants(server.pid ?? 0).length === 0);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });
});

it("the server writes nothing but messages of the protocol to stdout, whatever it is sent", async () => {
  const { server, lines, request, stderr } = start();
  server.stdin.write("this is not JSON\n{}\n");
  await request("initialize", initialize);
  await request("tools/call", { name: "execute_code_isolated", arguments: { code: "print('hello')" } });
  const unknown = await request("tools/call", { name: "no_such_tool", arguments: {} });
  expect(unknown.error.code).toBe(-32602);
  server.stdin.end();
  await once(server, "close");
  const answers = lines.map((line) => JSON.parse(line));
  for (const answer of answers) expect(answer).toMatchObject({ jsonrpc: "2.0" });
  const refused = answers.filter(({ id }) => id === null).map(({ error }) => error.code);
  expect(refused).toEqual([-32_700, -32_600]);
  const ignored = /a line on stdin is not a JSON-RPC message\n/g;
  expect(stderr().match(ignored)).toHaveLength(2);
});

describe("a message that is long", () => {
  it("is read beyond the 10 MiB that the SDK's reader allows", async () => {
    const { server, request } = start();
    await request("initialize", initialize);
    const created = await request("tools/call", { name: "create_sandbox", arguments: {} });
    const sandbox_id = created.result.structuredContent.id;
    const write = (size: number): Promise<Answer> =>
      request("tools/call", {
        name: "file_write",
        arguments: { sandbox_id, path: "/workspace/long", content: "x".repeat(size) },
      });
    expect((await write(12_000_000)).result.structuredContent).toMatchObject({ size: 12_000_000 });
    const refused = JSON.stringify((await write(17_000_000)).result);
    expect(refused).toMatch(/content must be at most 16 MiB: write it in parts with file_write/);
    server.stdin.end();
    await once(server, "exit");
  });

  it("ends the server with an error if it is too long to be read, and no sandbox is left", async () => {
    const { server, directory, request, stderr } = start();
    await request("initialize", initialize);
    await request("tools/call", { name: "create_sandbox", arguments: {} });
    const exited = once(server, "close");
    server.stdin.write(Buffer.alloc(64 * 1024 * 1024 + 1, "x"));
    expect(await exited).toEqual([1, null]);
    expect(stderr()).toMatch(/^cloud-sandbox-mcp: a message on stdin is longer than 67108864 bytes, .*\n$/m);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });
});

it("the server serves the protocol version without sessions", async () => {
  const { server, request } = start();
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const discovered = await request("server/discover", { _meta });
  expect(discovered.result).toMatchObject({
    supportedVersions: ["2026-07-28"],
    instructions: expect.stringContaining("execute_code_isolated"),
  });
  const listed = await request("tools/list", { _meta });
  expect(listed.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: "public" });
  const ran = await request("tools/call", {
    _meta,
    name: "execute_code_isolated",
    arguments: { code: "print(1)" },
  });
  expect(ran.result.structuredContent).toMatchObject({ stdout: "1\n" });
  server.stdin.end();
  await once(server, "exit");
});

it("a cancelled call stops what it runs, and deletes its sandbox", async () => {
  const mcp = await connect();
  try {
    const { id: sandbox_id } = await mcp.result("create_sandbox");
    const sleeping = (): boolean => isRunning(mcp.transport.pid, "sleep 4712");
    const bash = { language: "bash", code: "sleep 4712" };
    for (const [name, given] of [
      ["execute_code_isolated", bash],
      ["execute_code", { sandbox_id, ...bash }],
      ["run_command", { sandbox_id, command: "sleep 4712" }],
    ] as const) {
      const cancellation = new AbortController();
      const options = { signal: cancellation.signal };
      const call = mcp.call(name, given, options);
      await until(() => sleeping());
      cancellation.abort();
      await expect(call).rejects.toThrow();
      await until(() => !sleeping());
    }
    const only = async (): Promise<boolean> => {
      const { data } = await mcp.result("list_sandboxes");
      return JSON.stringify((data as { id: string }[]).map(({ id }) => id)) === JSON.stringify([sandbox_id]);
    };
    await until(only);
  } finally {
    await mcp.client.close();
  }
});

describe("the command line", () => {
  it.each([
    ["--version", 0, /^\d+\.\d+\.\d+\n$/, /^$/],
    ["--help", 0, /Usage: cloud-sandbox-mcp/, /^$/],
    ["--nonsense", 1, /^$/, /^cloud-sandbox-mcp: [^\n]*--nonsense[^\n]*--help.\n$/],
    ["--profile=hop", 1, /^$/, /^cloud-sandbox-mcp: [^\n]* Did you mean hopx\? See --help.\n$/],
    [
      "--read-only=perhaps",
      1,
      /^$/,
      /^cloud-sandbox-mcp: [^\n]* The value must be true or false. See --help.\n$/,
    ],
    [
      "--tools=files_read",
      1,
      /^$/,
      /^cloud-sandbox-mcp: --tools: profile hopx has no "files_read"; [^\n]*file_read/,
    ],
  ])("%s", async (option, code, stdout, stderr) => {
    const child = spawn(process.execPath, [serverFile, option]);
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (said.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (said.stderr += chunk.toString()));
    const [exitCode] = await once(child, "close");
    expect(exitCode).toBe(code);
    expect(said.stdout).toMatch(stdout);
    expect(said.stderr).toMatch(stderr);
  });

  it("in a terminal says that it waits for a client, and how to serve on a port", () => {
    const { stdout, status } = spawnSync(
      "script",
      ["-qec", `${process.execPath} ${serverFile}`, "/dev/null"],
      {
        // Ctrl-D ends the input of a terminal.
        input: "\u0004",
        encoding: "utf8",
      },
    );
    expect(stdout).toMatch(/cloud-sandbox-mcp: no MCP client is connected: .*--transport http/);
    expect(status).toBe(0);
  });
});

it.each([
  [
    "DETACH_AFTER",
    "0",
    /^cloud-sandbox-mcp: CLOUD_SANDBOX_MCP_DETACH_AFTER must be [^\n]* 1 to 300 seconds\.\n$/,
  ],
  ["DETACH_AFTER", "soon", /must be a whole number of 1 to 300 seconds/],
  [
    "READONLY",
    "1",
    /^cloud-sandbox-mcp: There is no CLOUD_SANDBOX_MCP_READONLY; did you mean CLOUD_SANDBOX_MCP_READ_ONLY\?\n$/,
  ],
  [
    "NONSENSE",
    "1",
    /there is CLOUD_SANDBOX_MCP_PROFILE, .*, CLOUD_SANDBOX_MCP_TOKEN, .*, CLOUD_SANDBOX_MCP_DETACH_AFTER\.\n$/,
  ],
])("the server does not start with CLOUD_SANDBOX_MCP_%s=%s", (name, value, said) => {
  const env = { ...process.env, [`CLOUD_SANDBOX_MCP_${name}`]: value };
  const { status, stderr } = spawnSync(process.execPath, [serverFile], { env, encoding: "utf8" });
  expect(stderr).toMatch(said);
  expect(status).toBe(1);
});

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const initialize = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1.0.0" },
};

interface Answer {
  id: number;
  result: Record<string, unknown> & { structuredContent: Record<string, unknown> };
  error: { code: number };
}

/** Starts the server with a client that sends lines. Files of the server are in a directory of its own. */
function start() {
  const directory = mkdtempSync(join(tmpdir(), "mcp-test-"));
  // Sandboxes run under uids of their own, which must be able to enter this directory.
  chmodSync(directory, 0o755);
  directories.push(directory);
  const env = { ...process.env, CLOUD_SANDBOX_BACKEND: "local", TMPDIR: directory };
  const server = spawn(process.execPath, [serverFile], { env });
  server.stdin.on("error", () => undefined);
  let said = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const lines: string[] = [];
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface(server.stdout).on("line", (line) => {
    lines.push(line);
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.(answer);
  });
  let last = 0;
  const request = (method: string, params: unknown): Promise<Answer> => {
    last += 1;
    const id = last;
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return { server, directory, lines, request, stderr: () => said };
}

/**
 * Whether a process with this command line is a descendant of `ancestor`, `times` times. Processes in sandboxes count
 * too.
 */
function isRunning(ancestor: number | null | undefined, command: string, times = 1): boolean {
  return descendants(ancestor ?? 0).filter(({ commandLine }) => commandLine === command).length >= times;
}

/** Waits for a condition. Only the test's time limit ends the wait. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

it.each([
  [["--port", "9000"], /add --transport http, or drop --port\.\n$/],
  [["--no-token", "--max-clients", "5"], /add --transport http, or drop --no-token and --max-clients\.\n$/],
])("the server does not start over stdio with %s, which it would ignore", (words, said) => {
  const { status, stderr } = spawnSync(process.execPath, [serverFile, ...words], { encoding: "utf8" });
  expect(stderr).toMatch(said);
  expect(status).toBe(1);
});
