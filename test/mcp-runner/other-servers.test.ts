import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { SandboxClient } from "cloud-sandbox";
import { McpRunner } from "cloud-sandbox-mcp-runner";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type McpConnection, textOf } from "../../packages/mcp/test/support/mcp-connection.js";
import { type ServersBackend, startServersBackend } from "./other-mcp-servers.js";

let directory: string;
let backend: ServersBackend;
let client: SandboxClient;
let runner: McpRunner;
const installed: string[] = [];

interface Case {
  readonly args: readonly string[];
  readonly calls: readonly (readonly [tool: string, args: Record<string, unknown>])[];
}

const cases: Readonly<Record<string, Case>> = {
  filesystem: {
    args: ["/tmp"],
    calls: [
      ["list_allowed_directories", {}],
      ["read_text_file", { path: "/etc/shadow" }],
    ],
  },
  everything: {
    args: [],
    calls: [
      ["echo", { message: "hello" }],
      ["get-sum", { a: 2, b: 40 }],
      ["get-tiny-image", {}],
      ["get-structured-content", { location: "New York" }],
    ],
  },
  memory: {
    args: [],
    calls: [
      [
        "create_entities",
        { entities: [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }] },
      ],
      ["search_nodes", { query: "programs" }],
    ],
  },
  "sequential-thinking": {
    args: [],
    calls: [
      ["sequentialthinking", { thought: "one", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
    ],
  },
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "bare-servers-"));
  backend = await startServersBackend();
  client = new SandboxClient({ apiKey: backend.local.apiKey, baseUrl: backend.local.url });
  runner = new McpRunner({ client, onInstallLog: (line) => installed.push(line) });
  for (const [name, { args }] of Object.entries(cases))
    runner.addServer({
      name,
      command: `mcp-server-${name}`,
      args,
      installCommands: [backend.installCommand],
    });
  // The first session installs, which takes long.
  await runner.discoverTools("memory");
}, 240_000);
afterAll(async () => {
  await runner?.close();
  await client?.close();
  await backend?.[Symbol.asyncDispose]();
  if (directory !== undefined) await rm(directory, { recursive: true });
});

/** The tools of a server, and its answers to the calls of a case. */
async function answers(of: Pick<Client, "listTools" | "callTool">, { calls }: Case): Promise<unknown> {
  const { tools } = await of.listTools();
  const results = [];
  for (const [name, args] of calls)
    results.push(await of.callTool({ name, arguments: args }).catch((error: Error) => error.message));
  return { tools, results };
}

/** The same, from the server running on this machine without a sandbox. */
async function bareAnswers(name: string, one: Case): Promise<unknown> {
  const command = join(backend.project, "node_modules/.bin", `mcp-server-${name}`);
  const bare = new Client({ name: "bare", version: "1.0.0" });
  const env = { PATH: process.env.PATH ?? "", MEMORY_FILE_PATH: join(directory, "memory.jsonl") };
  await bare.connect(new StdioClientTransport({ command, args: [...one.args], env, stderr: "ignore" }));
  try {
    return await answers(bare, one);
  } finally {
    await bare.close();
  }
}

// The first session installs the servers, which takes npm minutes on a machine that is busy with other tests.
describe("a server from npm, in a sandbox", { timeout: 240_000 }, () => {
  test.each(Object.entries(cases))("%s answers as it does bare", async (name, one) => {
    await using session = await runner.createSession(name);
    expect(await answers(session.client, one)).toEqual(await bareAnswers(name, one));
  });

  test("everything answers over HTTP as over stdio", async () => {
    runner.addServer({
      name: "over-http",
      command: "mcp-server-everything streamableHttp",
      env: { PORT: "3001" },
      port: 3001,
      installCommands: [backend.installCommand],
    });
    const calls = cases.everything?.calls ?? [];
    const one = { args: [], calls };
    await using http = await runner.createSession("over-http");
    await using stdio = await runner.createSession("everything");
    expect(await answers(http.client, one)).toEqual(await answers(stdio.client, one));
  });

  test("passes progress on", async () => {
    await using session = await runner.createSession("everything");
    const seen: number[] = [];
    await session.callTool(
      "trigger-long-running-operation",
      { duration: 0.5, steps: 5 },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("is installed once for all of them", () => {
    const asked = backend.registry.asked.filter((path) => path === "@modelcontextprotocol/server-memory");
    expect(asked).toHaveLength(1);
    expect(installed.join("\n")).toContain("added");
  });
});

describe("a server from npm, through cloud-sandbox-mcp", () => {
  let mcp: McpConnection;
  beforeAll(async () => {
    const { installCommand, local } = backend;
    const installCommands = [installCommand];
    const config = {
      everything: { command: "mcp-server-everything", installCommands, env: { PASSWORD: "xyzzy-4711" } },
      files: { command: "mcp-server-filesystem /workspace", installCommands },
    };
    mcp = await connect({
      CLOUD_SANDBOX_API_KEY: local.apiKey,
      CLOUD_SANDBOX_BASE_URL: local.url,
      CLOUD_SANDBOX_MCP_CONFIG: JSON.stringify(config),
      CLOUD_SANDBOX_MCP_GATEWAY: "everything",
      CLOUD_SANDBOX_MCP_SERVER: "files",
    });
  });
  afterAll(() => mcp?.client.close());

  const everything = (tool: string, args: object = {}) =>
    mcp.call("mcp_tool_call", { server: "everything", tool, arguments: args });

  test("gives texts, images, structured results and resources as they are", async () => {
    expect(textOf((await everything("get-sum", { a: 2, b: 40 })).content)).toContain("42");
    const { content } = await everything("get-tiny-image");
    expect(content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
    expect(await everything("get-structured-content", { location: "New York" })).toMatchObject({
      structuredContent: { temperature: expect.any(Number) },
    });
    const embedded = await everything("get-resource-reference", { resourceType: "Text", resourceId: 1 });
    expect(embedded.content).toContainEqual(expect.objectContaining({ type: "resource" }));
  });

  test("gives links that lead to its resources", async () => {
    const { content } = await everything("get-resource-links", { count: 1 });
    const uri = content.flatMap((part) => (part.type === "resource_link" ? [part.uri] : []))[0] ?? "";
    expect(uri).toMatch(/^mcp-server:\/\/everything\/demo%3A/);
    const { contents } = await mcp.client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: expect.any(String) }]);
  });

  test("reports progress as it was measured, and is cancelled", async () => {
    const seen: { progress: number; total?: number | undefined }[] = [];
    const call = (duration: number, options: object) =>
      mcp.call(
        "mcp_tool_call",
        { server: "everything", tool: "trigger-long-running-operation", arguments: { duration, steps: 4 } },
        options,
      );
    await call(0.4, { onprogress: (report: { progress: number; total?: number }) => seen.push(report) });
    // The SDK's client drops the last report when the answer comes right after it.
    expect(seen.filter(({ total }) => total !== undefined).slice(0, 3)).toMatchObject([
      { progress: 1, total: 4 },
      { progress: 2, total: 4 },
      { progress: 3, total: 4 },
    ]);
    const cancel = new AbortController();
    const long = call(3600, { signal: cancel.signal, onprogress: () => cancel.abort() });
    await expect(long).rejects.toThrow();
    expect(textOf((await everything("echo", { message: "after" })).content)).toContain("after");
  });

  test("keeps its variables to itself", async () => {
    const told = textOf((await everything("get-env")).content);
    expect(told).toContain("PASSWORD");
    expect(told).not.toContain("xyzzy-4711");
  });

  test("has its tools in the list, with schemas and annotations, and their results", async () => {
    const listed = async () =>
      (await mcp.client.listTools()).tools.find(({ name }) => name === "files__list_directory");
    await expect.poll(listed, { timeout: 60_000 }).toMatchObject({ annotations: { readOnlyHint: true } });
    const path = "/workspace/a.txt";
    await mcp.call("files__write_file", { path, content: "text" });
    expect(await mcp.call("files__list_directory", { path: "/workspace" })).toMatchObject({
      content: [{ type: "text", text: "[FILE] a.txt" }],
    });
    const outside = await mcp.call("files__read_text_file", { path: "/etc/passwd" });
    expect({ isError: outside.isError, text: textOf(outside.content) }).toMatchObject({
      isError: true,
      text: expect.stringContaining("Access denied"),
    });
  });
});
