import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { SandboxClient } from "cloud-sandbox";
import { McpRunner } from "cloud-sandbox-mcp-runner";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
