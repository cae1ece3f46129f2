/** Other people's MCP servers through this one: what they do wrong, what they may not do, and whose they are. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttpServer } from "../support/http-server.js";
import { connect, type McpConnection, serverFile, textOf } from "../support/mcp-connection.js";

const program = readFileSync(new URL("../../../../test/mcp-runner/server.py", import.meta.url), "utf8");
const secret = "a-secret-that-nobody-else-may-see";

/** A server that needs no installing, and one that cannot be started. */
const servers = {
  plain: { command: "python3", args: ["-c", program], env: { SECRET_KEY: secret }, description: "For tests" },
  odd: { command: "python3", args: ["-c", program, "odd"] },
  broken: { command: "no-such-program", internet: ["api.example.com"] },
};
const config = JSON.stringify({ mcpServers: servers });

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_MCP_CONFIG: config, CLOUD_SANDBOX_MCP_GATEWAY: "plain,broken,odd" });
});
afterAll(() => mcp?.client.close());

/** For machines on which everything takes long. */
const busy = { timeout: 200_000 };

const called = (tool: string, args: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
  mcp.call("mcp_tool_call", { server: "plain", tool, arguments: args, ...more });

describe("the tools for other servers", () => {
  it("are there when a server is named, and not without", async () => {
    const { tools } = await mcp.client.listTools();
    expect(tools.slice(-3).map(({ name }) => name)).toEqual([
      "mcp_server_list",
      "mcp_tools_list",
      "mcp_tool_call",
    ]);
    expect(mcp.client.getInstructions()).toContain("mcp_server_list");
  });

  it("list servers with what they may reach, and not how they are started", async () => {
    const listed = await mcp.result("mcp_server_list");
    expect(listed).toMatchObject({
      servers: [
        { name: "plain", description: "For tests", internet: "none" },
        { name: "broken", internet: "api.example.com" },
        { name: "odd" },
      ],
    });
    expect(JSON.stringify(listed)).not.toMatch(/python|secret|program/);
  });

  it("list a server's tools, and call one", async () => {
    const { tools, count } = await mcp.result("mcp_tools_list", { server: "plain", tool: "echo" });
    expect({ tools, isMore: Number(count) > 1 }).toEqual({
      tools: [{ name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
      isMore: true,
    });
    expect(await called("echo", { text: "hello" })).toMatchObject({
      content: [{ type: "text", text: "hello" }],
      _meta: { "io.github.cloud-sandbox/untrusted-content": true },
    });
  });

  it("list a server's tools although some are odd, and say which are left out", async () => {
    const { tools } = await mcp.result("mcp_tools_list", { server: "odd" });
    expect(tools).toEqual(
      expect.arrayContaining([
        { name: "titled", inputSchema: { type: "object" }, annotations: {} },
        expect.objectContaining({ name: "echo" }),
      ]),
    );
    expect(mcp.stderr()).toContain("MCP server odd: Entries of a list are left out: tools[0]: name ");
  });

  it("show a server's images as what their bytes are, and nothing else as an image", async () => {
    const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    const { content, structuredContent } = await called("images", { data: [gif, "", "b29wcw=="] });
    expect(content).toEqual([
      { type: "image", data: gif, mimeType: "image/gif" },
      { type: "text", text: expect.stringMatching(/^\[image \(image\/png\) of 0 bytes is left out/) },
      { type: "text", text: expect.stringMatching(/^\[image \(image\/png\) of 4 bytes is left out/) },
    ]);
    expect(structuredContent).toBeUndefined();
  });

  it("keep secrets from results, failed ones too", async () => {
    expect(textOf((await called("variable", { name: "SECRET_KEY" })).content)).toBe("[hidden]");
    const failed = await called("fail");
    expect({ isError: failed.isError, text: textOf(failed.content) }).toEqual({
      isError: true,
      text: "failed with [hidden]",
    });
  });

  it("pass on no progress and no names of any length", async () => {
    const steps: string[] = [];
    const given = { server: "plain", tool: "progress", arguments: {} };
    await mcp.call("mcp_tool_call", given, { onprogress: ({ message = "" }) => steps.push(message) });
    expect(steps).toContain("p".repeat(1000));
    expect(Math.max(...steps.map(({ length }) => length))).toBe(1000);
    const own = await connect({ CLOUD_SANDBOX_MCP_CONFIG: config, CLOUD_SANDBOX_MCP_GATEWAY: "plain" });
    try {
      await own.call("mcp_tool_call", { server: "plain", tool: "multiply", arguments: {} });
      const { note } = await own.result("mcp_tools_list", { server: "plain" });
      expect(String(note)).toMatch(/^Left out.*Give one as tool/s);
      expect(String(note).length).toBeLessThan(25_000);
    } finally {
      await own.client.close();
    }
  });

  it("let no tool into a server's sandbox, in which its variables could be read", async () => {
    await called("echo");
    expect(await mcp.result("list_sandboxes")).toMatchObject({ data: [] });
  });
});

describe("a server that", () => {
  it.each<[string, string, string, Record<string, unknown>, RegExp]>([
    ["does not exist", "plan", "echo", {}, /no server "plan"; did you mean plain\?/],
    ["has no such tool", "plain", "vari", {}, /no tool "vari"; did you mean variable\?/],
    [
      "cannot be started",
      "broken",
      "x",
      {},
      /command not found.*Install.*user must correct the server's configuration.*may reach only api\.example\.com.*"internet"/,
    ],
    ["never answers", "plain", "hang", { timeout: 1 }, /did not answer hang in time.*may reach nothing/],
    ["answers another request", "plain", "other-id", {}, /never sent, 4711.*next call starts it again/],
    ["floods", "plain", "flood", {}, /not an MCP message.*next call starts it again/],
    ["answers in another form", "plain", "wrong", {}, /wrong/],
    ["asks for sampling", "plain", "sampling", {}, /asked for sampling\/createMessage, which was refused/],
    ["ends", "plain", "exit", {}, /code 3.*giving up.*\[hidden\].*next call starts it again/],
  ])("%s is told, and is there for the next call", async (_, server, tool, more, message) => {
    const text = await mcp.failure("mcp_tool_call", { server, tool, ...more });
    expect(text).toMatch(message);
    expect(text).not.toContain(secret);
    expect(textOf((await called("echo", { text: "next" })).content)).toBe("next");
  });

  it("greets on standard output is heard all the same", async () => {
    expect(textOf((await called("garbage")).content)).toBe("after garbage");
  });
});

describe("servers whose tools are listed", () => {
  it("appear by their own names, and change when the server says so", { timeout: 240_000 }, async () => {
    const direct = await connect({ CLOUD_SANDBOX_MCP_CONFIG: config, CLOUD_SANDBOX_MCP_SERVER: "plain" });
    try {
      let changes = 0;
      direct.client.fallbackNotificationHandler = async ({ method }) => {
        if (method === "notifications/tools/list_changed") changes += 1;
      };
      const names = async () => (await direct.client.listTools()).tools.map(({ name }) => name);
      // On a machine that is busy the server may come later than the list.
      await expect.poll(names, busy).toContain("plain__echo");
      expect(await names()).not.toContain("mcp_tool_call");
      expect(textOf((await direct.call("plain__echo", { text: "direct" })).content)).toBe("direct");
      await direct.call("plain__grow");
      await expect.poll(names, busy).toContain("plain__grown");
      expect(changes).toBeGreaterThan(0);
    } finally {
      await direct.client.close();
    }
  });
});

describe("what a server has installed", () => {
  it("is there for the next start on this machine", { timeout: 240_000 }, async () => {
    const caches = await mkdtemp(join(tmpdir(), "mcp-layers-"));
    const installCommands = ["mkdir -p /opt/installed && echo it-$((6 * 7)) > /opt/installed/here"];
    const environment = {
      XDG_CACHE_HOME: caches,
      CLOUD_SANDBOX_MCP_CONFIG: JSON.stringify({ plain: { ...servers.plain, installCommands } }),
      CLOUD_SANDBOX_MCP_GATEWAY: "plain",
    };
    try {
      const steps: string[] = [];
      for (const seen of [steps, [] as string[]]) {
        const one = await connect(environment);
        const args = { server: "plain", tool: "files", arguments: { path: "/opt/installed" } };
        const { content } = await one.call("mcp_tool_call", args, {
          onprogress: ({ message = "" }) => seen.push(message),
          ...busy,
        });
        expect(textOf(content)).toBe('["here"]');
        await one.client.close();
        if (seen !== steps) expect(seen.filter((step) => step.startsWith("Installing"))).toEqual([]);
      }
      expect(steps.filter((step) => step.startsWith("Installing plain")).length).toBeGreaterThan(0);
    } finally {
      await rm(caches, { recursive: true, force: true });
    }
  });
});

describe("over HTTP", () => {
  let http: HttpServer;
  beforeAll(async () => {
    http = await startHttpServer([], {
      CLOUD_SANDBOX_MCP_CONFIG: config,
      CLOUD_SANDBOX_MCP_GATEWAY: "plain",
    });
  });
  afterAll(() => http?.stop());

  it("each client has servers of its own", async () => {
    const [one, other] = [await http.connect(), await http.connect()];
    const status = async ({ result }: Pick<McpConnection, "result">) =>
      (await result("mcp_server_list")).servers as unknown;
    expect(
      textOf(
        (await one.call("mcp_tool_call", { server: "plain", tool: "echo", arguments: { text: "1" } }))
          .content,
      ),
    ).toBe("1");
    expect(await status(one)).toMatchObject([{ status: "running" }]);
    expect(await status(other)).toMatchObject([{ status: "stopped" }]);
    expect(await other.result("list_sandboxes")).toMatchObject({ data: [] });
    await Promise.all([one.client.close(), other.client.close()]);
  });
});

describe("at the start", () => {
  /** What the server says when it does not start. */
  function refusal(args: readonly string[], home: string): string {
    const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: home, CLOUD_SANDBOX_BACKEND: "local" };
    const { status, stderr } = spawnSync(process.execPath, [serverFile, ...args], {
      env,
      input: "",
      encoding: "utf8",
    });
    expect(status).toBe(1);
    return stderr;
  }

  it("a server that is not there, or not configured rightly, is told in one line", async () => {
    const home = await mkdtemp(join(tmpdir(), "mcp-settings-"));
    try {
      expect(refusal(["--mcp-gateway", "files"], home)).toMatch(
        /"files", because none .*mcp server add files/,
      );
      await mkdir(join(home, "cloud-sandbox"));
      const file = join(home, "cloud-sandbox", "mcp.json");
      await writeFile(
        file,
        '{"version": 1, "servers": {\n"files": {"command": "x"},\n"bad": {"comand": "x"}}}',
      );
      await chmod(file, 0o600);
      const both = ["--mcp-server", "files", "--read-only"];
      const cases: [string[], RegExp][] = [
        [["--mcp-server", "file"], /no MCP server "file"; did you mean files\?/],
        [["--mcp-gateway", "bad"], /mcp\.json, line 3: Server "bad": .*comand/],
        [both, /--read-only/],
        [["--mcp-gateway", "files", "--mcp-config", "{a"], /--mcp-config, line 1: is no JSON/],
        [["--mcp-gateway", "files", "--mcp-config", join(home, "none")], /there is no file/],
      ];
      for (const [args, message] of cases) expect(refusal(args, home)).toMatch(message);
      await chmod(file, 0o644);
      expect(refusal(["--mcp-gateway", "files"], home)).toContain(`chmod 600 ${file}`);
    } finally {
      await rm(home, { recursive: true });
    }
  });
});
