import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { otherNode, scratchProject } from "../support/scratch-project.js";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../packages/mcp/dist/main.js", import.meta.url));
let inspect: (...args: string[]) => Promise<unknown>;
let scratch: string;

beforeAll(async () => {
  // The MCP inspector does not run on Node.js 20, which the MCP server supports.
  const node = await otherNode("24.21.0");
  const project = await scratchProject("inspector", ["@modelcontextprotocol/inspector@2.12.0"]);
  scratch = await mkdtemp(join(tmpdir(), "inspector-"));
  const cli = join(project, "node_modules", ".bin", "mcp-inspector");
  inspect = async (...args) => {
    const { stdout } = await run(node, [cli, "--cli", process.execPath, main, ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: scratch,
        MCP_CATALOG_PATH: join(scratch, "catalog.json"),
        CLOUD_SANDBOX_POOL: "0",
      },
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(stdout);
  };
}, 600_000);

afterAll(() => rm(scratch, { recursive: true, force: true }));

test.each(["legacy", "modern"])(
  "the inspector lists tools that it finds portable, in the %s era",
  async (era) => {
    const { tools } = (await inspect("--protocol-era", era, "--method", "tools/list", "--strict")) as {
      tools: { name: string }[];
    };
    expect(tools[0]?.name).toBe("execute_code_isolated");
    expect(tools.length).toBeGreaterThan(20);
  },
);

test("the inspector runs code in a sandbox", async () => {
  const result = (await inspect(
    ...["--method", "tools/call", "--tool-name", "execute_code_isolated"],
    ...["--tool-args-json", JSON.stringify({ code: "print(6 * 7)" })],
  )) as { structuredContent: { stdout: string } };
  expect(result.structuredContent.stdout).toBe("42\n");
});

// Tests of the profiles call the tools, with a client that checks results against the schemas too.
test.each([
  ["codemode", "execute_code"],
  ["microsandbox", "sandbox_start"],
  ["code-executer", "start_code_executer"],
])("the inspector finds the tools of profile %s portable", async (profile, tool) => {
  const { tools } = (await inspect(
    ...["-e", `CLOUD_SANDBOX_MCP_PROFILE=${profile}`],
    ...["--method", "tools/list", "--strict"],
  )) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toContain(tool);
});
