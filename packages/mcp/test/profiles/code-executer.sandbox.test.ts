import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PackageServer, startPackageServer } from "../../../../test/support/package-server.js";
import { connect, type McpConnection, plainText, textOf } from "../support/mcp-connection.js";

const name = "packages.test";
let packages: PackageServer;
let backend: LocalControlPlane;
let mcp: McpConnection;

beforeAll(async () => {
  packages = await startPackageServer(name);
  backend = await startLocalControlPlane({
    pool: 1,
    egress: {
      allowPrivate: [`${name}:${packages.httpPort}`],
      resolve: async (asked) => (asked === name ? ["127.0.0.1"] : []),
    },
  });
  mcp = await client();
});
afterAll(async () => {
  await mcp?.client.close();
  await backend?.close();
  await packages?.[Symbol.asyncDispose]();
});

function client(): Promise<McpConnection> {
  return connect({
    CLOUD_SANDBOX_MCP_PROFILE: "code-executer",
    CLOUD_SANDBOX_API_KEY: backend.apiKey,
    CLOUD_SANDBOX_BASE_URL: backend.url,
    CLOUD_SANDBOX_PIP_INDEX_URL: `http://${name}:${packages.httpPort}/simple`,
  });
}

const text = (called: string, given?: Record<string, unknown>): Promise<string> =>
  plainText(mcp, called, given);

async function sandboxes(): Promise<number> {
  const answer = await fetch(`${backend.url}/v1/sandboxes`, { headers: { "x-api-key": backend.apiKey } });
  return ((await answer.json()) as { data: unknown[] }).data.length;
}

describe("the profile code-executer", { tags: ["python3-pip", "git", "openssl"] }, () => {
  it("has the tools and parameters of Containerized Code Executer", async () => {
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})])).toEqual([
      ["start_code_executer", ["dependencies"]],
      ["execute_code", ["code"]],
      ["stop_code_executer", []],
    ]);
  });

  it("says what to do if no environment was started", async () => {
    expect(await mcp.failure("execute_code", { code: "1" })).toMatch(
      /not running\. Call start_code_executer/,
    );
    expect(await text("stop_code_executer")).toBe("Code execution service is not running.");
  });

  it("starts, runs the documented example, and stops", async () => {
    expect(await text("start_code_executer")).toBe("Code execution service started.");
    expect(await text("execute_code", { code: "print('Hello, World!')" })).toBe("Hello, World!\n");
    expect(await text("stop_code_executer")).toBe("Code execution service stopped.");
    expect(await mcp.failure("execute_code", { code: "1" })).toMatch(/start_code_executer/);
    expect(await sandboxes()).toBe(0);
  });

  it("installs dependencies, with progress, and the code imports them", async () => {
    const steps: (string | undefined)[] = [];
    const given = { dependencies: ["hello-pip"] };
    await mcp.result("start_code_executer", given, { onprogress: ({ message }) => steps.push(message) });
    // Leave out repetitions: a step that takes long is reported again, with the seconds since the call.
    const first = steps.filter((step) => !/ s since the call\)$/.test(`${step}`)).slice(0, 2);
    expect(first).toEqual(["Creating a sandbox", "Installing hello-pip"]);
    expect(steps).toContainEqual(expect.stringMatching(/^Successfully installed hello-pip/));
    expect(await text("execute_code", { code: "import hello_pip; print(hello_pip.__name__)" })).toBe(
      "installed by pip\nhello_pip\n",
    );
  });

  it.each([
    ["keeps variables", "x = 20", ""],
    ["has them", "print(x)\nx + 1", "20\n21"],
    ["keeps imports", "import math", ""],
    ["gives the value of an expression", "math.factorial(x)", "2432902008176640000"],
    ["puts the value on a line of its own", "print('no newline', end=''); x", "no newline\n20"],
  ])("%s", async (_, code, expected) => {
    expect(await text("execute_code", { code })).toBe(expected);
  });

  it("shows an error as the original does, after what was printed, and keeps the variables", async () => {
    expect(await text("execute_code", { code: "print('before'); 1 / 0" })).toMatch(
      /^before\nError: Traceback[\s\S]*ZeroDivisionError: division by zero\n$/,
    );
    expect(await text("execute_code", { code: "x" })).toBe("20");
  });

  it.each([
    ["printed", "print('y' * 5_000_000)", 5_000_001],
    ["the value", "'y' * 100_000", 100_002],
  ])("counts all bytes of a long output that is %s", async (_, code, bytes) => {
    const shown = await text("execute_code", { code });
    const mark = /\n\[… (\d+) of (\d+) bytes left out …\]\n/;
    const kept = shown.replace(mark, "").length;
    expect(mark.exec(shown)?.slice(1).map(Number)).toEqual([bytes - kept, bytes]);
  });

  it("replaces a running environment by a new one", async () => {
    await text("start_code_executer");
    expect(await text("execute_code", { code: "x" })).toMatch(/^Error: [\s\S]*NameError/);
    expect(await sandboxes()).toBe(1);
  });

  it("keeps the running environment if a new one cannot be started, and leaves nothing of that", async () => {
    await text("execute_code", { code: "before = 6" });
    const sentence = await mcp.failure("start_code_executer", { dependencies: ["no-such-package"] });
    expect(sentence).toMatch(/No matching distribution found for no-such-package[\s\S]*start_code_executer/);
    expect(await text("execute_code", { code: "before * 7" })).toBe("42");
    expect(await sandboxes()).toBe(1);
    await text("stop_code_executer");
    await mcp.failure("start_code_executer", { dependencies: ["no-such-package"] });
    expect(await mcp.failure("execute_code", { code: "1" })).toMatch(/start_code_executer/);
    expect(await sandboxes()).toBe(0);
  });

  it.each([
    [
      "an option of pip",
      ["--index-url=http://elsewhere"],
      /dependencies.0 must be a package in pip's syntax/,
    ],
    ["what is no list", "numpy", /dependencies must be a list/],
  ])("refuses %s", async (_, dependencies, step) => {
    expect(await mcp.failure("start_code_executer", { dependencies })).toMatch(step);
  });

  it("says so if the sandbox has ended, and starts a new one", async () => {
    await text("start_code_executer");
    const headers = { "x-api-key": backend.apiKey };
    const list = (await (await fetch(`${backend.url}/v1/sandboxes`, { headers })).json()) as {
      data: { id: string }[];
    };
    for (const { id } of list.data)
      await fetch(`${backend.url}/v1/sandboxes/${id}`, { method: "DELETE", headers });
    expect(await mcp.failure("execute_code", { code: "1" })).toMatch(/start_code_executer/);
    await text("start_code_executer");
    expect(await text("execute_code", { code: "1" })).toBe("1");
  });

  it("has one sandbox even if it is started twice at the same time", async () => {
    const starts = await Promise.all([mcp.call("start_code_executer"), mcp.call("start_code_executer")]);
    for (const { content } of starts)
      expect(textOf(content)).toMatch(/started\.$|^Another call has just started/);
    expect(starts.some(({ isError }) => isError !== true)).toBe(true);
    expect(await sandboxes()).toBe(1);
  });

  it("has a sandbox for each client, deleted when the client leaves", async () => {
    const other = await client();
    try {
      expect(await other.failure("execute_code", { code: "1" })).toMatch(/not running/);
      await other.result("start_code_executer");
      await other.result("execute_code", { code: "x = 'other'" });
      expect(await text("execute_code", { code: "'x' in globals()" })).toBe("False");
      expect(await sandboxes()).toBe(2);
    } finally {
      await other.client.close();
    }
    await expect.poll(sandboxes).toBe(1);
  });
});
