// @module-tag python3-pip
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { McpRunner } from "cloud-sandbox-mcp-runner";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../support/documents/code-blocks.js";

const run = promisify(execFile);
/** The Python that sandboxes have, too. */
const python = "/usr/bin/python3";
/** The MCP SDK for Python, with which most servers in Python are written. */
const requirement = "mcp>=2,<3";
const wheels = join(root, "node_modules/.cache/scratch/mcp-for-python-2");
const program = `
from mcp.server.mcpserver import MCPServer

server = MCPServer("figures")


@server.tool()
def mean(numbers: list[float]) -> float:
    """The mean of numbers."""
    return sum(numbers) / len(numbers)


@server.tool()
def fail() -> str:
    raise ValueError("on purpose")


@server.resource("figures://{name}")
def figure(name: str) -> str:
    return f"the figure {name}"


server.run()
`;

let unavailable: string | undefined;
let directory: string;
const files: Server = createServer(async ({ url = "/" }, response) => {
  const names = await readdir(wheels);
  const name = basename(decodeURIComponent(url));
  if (names.includes(name)) response.end(await readFile(join(wheels, name)));
  else {
    const links = names.map((each) => `<a href="${each}">${each}</a>`);
    response.setHeader("content-type", "text/html").end(links.join());
  }
});
let local: LocalControlPlane | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "python-server-"));
  try {
    await fetchWheels();
  } catch (error) {
    unavailable = `pip cannot fetch ${requirement}: ${String((error as Error).message)
      .trim()
      .slice(-200)}`;
    return;
  }
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  local = await startLocalControlPlane({
    pool: 0,
    egress: {
      allowPrivate: [wheelHost()],
      resolve: async (name) => (name === "wheels.test" ? ["127.0.0.1"] : []),
    },
  });
}, 180_000);
afterAll(async () => {
  await local?.close();
  files.close();
  await rm(directory, { recursive: true, force: true });
});

/** Keeps what pip downloads, for later runs. */
async function fetchWheels(): Promise<void> {
  if (existsSync(wheels)) return;
  await mkdir(join(wheels, ".."), { recursive: true });
  const aside = await mkdtemp(join(wheels, "..", "fetching-"));
  try {
    const words = ["-m", "pip", "download", "--quiet", "--retries", "0", "--only-binary", ":all:"];
    await run(python, [...words, "--dest", aside, requirement], { timeout: 120_000 });
    await rename(aside, wheels);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

const wheelHost = (): string => `wheels.test:${(files.address() as AddressInfo).port}`;
const installed = (target: string, from: string): string[] => [
  ...["-m", "pip", "install", "--quiet", "--no-index", "--find-links", from, "--trusted-host", "wheels.test"],
  ...["--root-user-action", "ignore", "--target", target, requirement],
];

/** What the server offers, and its answers. */
async function answers(of: Client): Promise<unknown> {
  return {
    tools: await of.listTools(),
    templates: await of.listResourceTemplates(),
    mean: await of.callTool({ name: "mean", arguments: { numbers: [1, 2, 6] } }),
    wrong: await of.callTool({ name: "mean", arguments: { numbers: "none" } }),
    failed: await of.callTool({ name: "fail", arguments: {} }),
    resource: await of.readResource({ uri: "figures://seven" }),
  };
}

test("a server in Python, installed with pip, answers as it does bare", { timeout: 240_000 }, async ({
  skip,
}) => {
  skip(unavailable !== undefined, unavailable);
  const bareProgram = join(directory, "server.py");
  await writeFile(bareProgram, program);
  await run(python, installed(join(directory, "lib"), wheels));
  const bare = new Client({ name: "bare", version: "1" });
  const env = { PYTHONPATH: join(directory, "lib"), HOME: directory };
  await bare.connect(
    new StdioClientTransport({ command: python, args: [bareProgram], env, stderr: "ignore" }),
  );
  const expected = await answers(bare).finally(() => bare.close());

  const client = new SandboxClient({ apiKey: local?.apiKey ?? "", baseUrl: local?.url ?? "" });
  try {
    await using runner = new McpRunner({ client });
    runner.addServer({
      name: "figures",
      command: `python3 /opt/figures/server.py`,
      env: { PYTHONPATH: "/opt/figures/lib" },
      internet: false,
      installCommands: [
        `mkdir -p /opt/figures && cat > /opt/figures/server.py <<'END'${program}END`,
        `python3 ${installed("/opt/figures/lib", `http://${wheelHost()}/`)
          .map((word) => `'${word}'`)
          .join(" ")}`,
      ],
    });
    await using session = await runner.createSession("figures");
    expect(await answers(session.client)).toEqual(expected);
    expect(expected).toMatchObject({ mean: { structuredContent: { result: 3 } }, failed: { isError: true } });
  } finally {
    await client.close();
  }
});
