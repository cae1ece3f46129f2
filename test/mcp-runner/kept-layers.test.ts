import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { root } from "../support/documents/code-blocks.js";
import { startLocalServer } from "../support/local-server.js";

let caches: string;
let install: string;

beforeEach(async () => {
  caches = await mkdtemp(join(tmpdir(), "kept-layers-"));
  const program = await readFile(join(root, "test/mcp-runner/server.py"), "utf8");
  install = `cat > /opt/server.py <<'END'\n${program}\nEND`;
});
afterEach(() => rm(caches, { recursive: true, force: true }));

interface Answer {
  readonly stdout: string;
  readonly stderr: string;
}

/** Has the command call a tool of a server with install commands, on this machine. */
async function byCommand(): Promise<Answer> {
  const quick = ["quick", "python3 /opt/server.py", "echo", "--param", "text=answered"];
  return runBuilt("cli", ["mcp", ...quick, "--install-commands", install], {
    env: { XDG_CACHE_HOME: caches, XDG_CONFIG_HOME: caches, CLOUD_SANDBOX_POOL: "0" },
  });
}

/** Has the MCP server call it. */
async function byMcpServer(): Promise<Answer> {
  const entry = { command: "python3 /opt/server.py", installCommands: [install] };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(root, "packages/mcp/dist/main.js"), "--mcp-gateway", "plain"],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      XDG_CACHE_HOME: caches,
      XDG_CONFIG_HOME: caches,
      CLOUD_SANDBOX_POOL: "0",
      CLOUD_SANDBOX_MCP_CONFIG: JSON.stringify({ mcpServers: { plain: entry } }),
    },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  try {
    const call = { server: "plain", tool: "echo", arguments: { text: "answered" } };
    const { content } = await client.callTool({ name: "mcp_tool_call", arguments: call });
    return { stdout: JSON.stringify(content), stderr };
  } finally {
    await client.close();
  }
}

describe.each([
  ["the command", byCommand],
  ["the MCP server", byMcpServer],
])("the directory in which %s keeps what MCP servers have installed", (_, answer) => {
  test("is left to another program that uses it", async () => {
    const directory = join(caches, "cloud-sandbox", "mcp-layers");
    const other = await startLocalServer({ args: ["--data-dir", directory, "--pool", "0"] });
    try {
      const before = await readdir(join(directory, "owners"));
      expect((await answer()).stdout).toContain("answered");
      expect(await readdir(join(directory, "owners"))).toEqual(before);
      expect(await readdir(join(caches, "cloud-sandbox"))).toContain("mcp-layers-2");
    } finally {
      await other.stop();
    }
  });

  test("is named when it cannot be used, instead of taken for one that is in use", async () => {
    await mkdir(join(caches, "cloud-sandbox"), { recursive: true });
    const directory = join(caches, "cloud-sandbox", "mcp-layers");
    await writeFile(directory, "not a directory");
    const { stderr, stdout } = await answer();
    expect(stderr + stdout).toContain(`The data directory ${directory} cannot be used`);
    expect(stderr + stdout).not.toMatch(/installs anew|answered/);
  });
});
