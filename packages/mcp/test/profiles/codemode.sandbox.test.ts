import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { descendants } from "../../../../test/support/host-processes.js";
import { startLocalServer } from "../../../../test/support/local-server.js";
import { exchange, posted, startHttpServer } from "../support/http-server.js";
import { connect, type McpConnection, plainText, serverFile } from "../support/mcp-connection.js";

const codemode = (environment: Record<string, string> = {}): Promise<McpConnection> =>
  connect({ CLOUD_SANDBOX_MCP_PROFILE: "codemode", ...environment });

describe("the profile codemode", () => {
  let mcp: McpConnection;
  beforeAll(async () => {
    mcp = await codemode({ SANDBOX_IMAGE: "python", EXEC_TIMEOUT: "10", MAX_OUTPUT_SIZE: "1000" });
  });
  afterAll(() => mcp.client.close());

  it("has the tools and parameters of mcp-codemode", async () => {
    const { tools } = await mcp.client.listTools();
    expect(
      tools.map(({ name, inputSchema: { properties, required = [] } }) => [
        name,
        Object.keys(properties ?? {}),
        required,
      ]),
    ).toEqual([
      ["execute_code", ["code", "language"], ["code"]],
      ["sandbox_read_file", ["path"], ["path"]],
      ["sandbox_write_file", ["path", "content"], ["path", "content"]],
      ["sandbox_list_files", ["path"], []],
    ]);
  });

  it.each([
    ["python unless told otherwise", {}, "print('hello')", "[stdout]\nhello\n\n[exit_code] 0"],
    ["Python, however it is written", { language: "Python" }, "print(1)", "[stdout]\n1\n\n[exit_code] 0"],
    ["bash", { language: "bash" }, "echo $((6 * 7))", "[stdout]\n42\n\n[exit_code] 0"],
    ["sh", { language: "sh" }, "echo out; echo err >&2", "[stdout]\nout\n\n[stderr]\nerr\n\n[exit_code] 0"],
    ["node", { language: "node" }, "const a = 1; console.log(a)", "[stdout]\n1\n\n[exit_code] 0"],
    ["javascript", { language: "javascript" }, "const a = 2; console.log(a)", "[stdout]\n2\n\n[exit_code] 0"],
    ["what fails", {}, "import sys; sys.exit(3)", "[exit_code] 3"],
  ])("runs %s", async (_, language, code, expected) => {
    // Run the code twice: JavaScript's second `const a` would fail if the first run had left its variables.
    for (let time = 0; time < 2; time += 1)
      expect(await plainText(mcp, "execute_code", { code, ...language })).toBe(expected);
  });

  it("keeps files, which code imports and leaves, from call to call", async () => {
    expect(
      await plainText(mcp, "sandbox_write_file", { path: "lib/helper.py", content: "answer = 'é42'\n" }),
    ).toBe("Wrote 16 bytes to /workspace/lib/helper.py");
    const code = "from lib.helper import answer; open('out.txt', 'w').write(answer)";
    expect(await plainText(mcp, "execute_code", { code })).toBe("[exit_code] 0");
    expect(await plainText(mcp, "sandbox_read_file", { path: "/workspace/out.txt" })).toBe("é42");
    expect(await plainText(mcp, "sandbox_list_files", {})).toMatch(
      /^total \d+\n[\s\S]* lib\n[\s\S]* out\.txt\n/,
    );
    expect(await plainText(mcp, "sandbox_list_files", { path: "lib/../lib" })).toMatch(/ helper\.py\n/);
  });

  it("has no network", async () => {
    const code = "import socket; socket.create_connection(('1.1.1.1', 53), 1)";
    expect(await plainText(mcp, "execute_code", { code })).toMatch(
      /\[stderr\]\n[\s\S]*(unreachable|refused)[\s\S]*\[exit_code\] 1$/,
    );
  });

  it("kills code after EXEC_TIMEOUT, and says so as the original does", async () => {
    const code = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)";
    expect(await plainText(mcp, "execute_code", { code })).toBe(
      "[stdout]\nbegun\n\n[stderr]\nExecution timed out after 10 seconds\n\n[exit_code] -1",
    );
  });

  it("cuts output at MAX_OUTPUT_SIZE, and says how much is missing", async () => {
    const long = await plainText(mcp, "execute_code", { code: "print('a' * 5000 + 'z')" });
    expect(long).toMatch(
      /^\[stdout\]\na{500}\n\[… 4002 of 5002 characters left out …\]\na{498}z\n\n\[exit_code\] 0\n\[note\] Output was cut/,
    );
    await mcp.call("sandbox_write_file", { path: "long", content: "b".repeat(2000) });
    expect(await plainText(mcp, "sandbox_read_file", { path: "long" })).toMatch(
      /^b{500}\n\[… 1000 of 2000 .*\]\nb{500}$/,
    );
  });

  it.each([
    ["a path outside", "sandbox_read_file", { path: "/etc/passwd" }, /outside of \/workspace/],
    ["a path beside", "sandbox_read_file", { path: "/workspace2/a" }, /outside of \/workspace/],
    ["a path that climbs", "sandbox_write_file", { path: "../etc/a", content: "" }, /outside of \/workspace/],
    ["a directory outside", "sandbox_list_files", { path: "/" }, /outside of \/workspace/],
    ["a file that is not there", "sandbox_read_file", { path: "nothing" }, /sandbox_list_files shows/],
    [
      "a directory that is not there",
      "sandbox_list_files",
      { path: "nothing" },
      /No such file.*sandbox_list_files/,
    ],
    [
      "the workspace itself as a file",
      "sandbox_write_file",
      { path: "/workspace", content: "" },
      /^\/workspace is a directory/,
    ],
    [
      "a language nobody has",
      "execute_code",
      { code: "1", language: "ruby" },
      /one of python, bash, sh, node/,
    ],
    ["code that is too long", "execute_code", { code: "#".repeat(200_000) }, /128 KiB.*sandbox_write_file/],
    ["no code", "execute_code", {}, /code is required/],
  ])("refuses %s with what to do", async (_, name, given, step) => {
    expect(await mcp.failure(name, given)).toMatch(step);
  });
});

it("the profile codemode says once which parts of SANDBOX_IMAGE it cannot provide", async () => {
  const mcp = await codemode({ SANDBOX_IMAGE: "python:3.0-slim" });
  try {
    const first = await plainText(mcp, "execute_code", { code: "1" });
    expect(first).toMatch(
      /^\[exit_code\] 0\n\[note\] python:3\.0-slim asks for Python 3\.0; the server has Python 3\.\d+/,
    );
    expect(await plainText(mcp, "execute_code", { code: "1" })).toBe("[exit_code] 0");
  } finally {
    await mcp.client.close();
  }
});

it("the profile codemode refuses a SANDBOX_IMAGE that it cannot provide", async () => {
  const mcp = await codemode({ SANDBOX_IMAGE: "rust:1.80" });
  try {
    for (let time = 0; time < 2; time += 1) {
      expect(await mcp.failure("execute_code", { code: "1" })).toMatch(
        /^The image "rust:1\.80" is not available on this server, and no other image is used in its place\. Use python:3\.\d+, .*user must correct SANDBOX_IMAGE/,
      );
    }
  } finally {
    await mcp.client.close();
  }
});

it("the profile codemode applies CONTAINER_MEMORY_LIMIT", async () => {
  const mcp = await codemode({ SANDBOX_IMAGE: "python", CONTAINER_MEMORY_LIMIT: "256m", POOL_SIZE: "1" });
  try {
    const code = "data = b'x' * (400 * 1024 * 1024); print(len(data))";
    expect(await plainText(mcp, "execute_code", { code })).not.toContain("[exit_code] 0");
    expect(await plainText(mcp, "execute_code", { code: "print(1)" })).toBe("[stdout]\n1\n\n[exit_code] 0");
  } finally {
    await mcp.client.close();
  }
});

it("the profile codemode refuses limits that a backend elsewhere does not offer", async () => {
  const cloud = await startLocalServer({ args: ["--pool", "0"] });
  const mcp = await codemode({
    CLOUD_SANDBOX_API_KEY: cloud.apiKey,
    CLOUD_SANDBOX_BASE_URL: cloud.url,
    SANDBOX_IMAGE: "python",
    CONTAINER_CPU_LIMIT: "1000",
  });
  try {
    expect(await mcp.failure("execute_code", { code: "1" })).toMatch(
      /processors.*user must correct.*CONTAINER_CPU_LIMIT/,
    );
  } finally {
    await mcp.client.close();
    await cloud.stop();
  }
});

it("the profile codemode keeps as many sandboxes ready as POOL_SIZE says", { timeout: 150_000 }, async () => {
  const mcp = await codemode({ POOL_SIZE: "3" });
  const agents = (): number =>
    descendants(mcp.transport.pid ?? 0).filter(({ commandLine }) => /^\S*bwrap /.test(commandLine)).length;
  try {
    await expect.poll(agents, { timeout: 120_000 }).toBe(3);
  } finally {
    await mcp.client.close();
  }
});

it.each([
  ["POOL_SIZE", "many", /POOL_SIZE must be a whole number from 0 to 64/],
  ["EXEC_TIMEOUT", "301", /EXEC_TIMEOUT must be a whole number from 1 to 300/],
  ["MAX_OUTPUT_SIZE", "0", /MAX_OUTPUT_SIZE must be/],
  ["CONTAINER_MEMORY_LIMIT", "lots", /CONTAINER_MEMORY_LIMIT must be a size such as 256m or 1g/],
  ["CONTAINER_MEMORY_LIMIT", "64m", /CONTAINER_MEMORY_LIMIT must be 128m or more/],
  ["CONTAINER_CPU_LIMIT", "-1", /CONTAINER_CPU_LIMIT must be a number of CPUs/],
  ["MCP_PORT", "http", /MCP_PORT must be a whole number/],
])("the profile codemode does not start with %s=%s", (name, value, said) => {
  const environment = { ...process.env, CLOUD_SANDBOX_MCP_PROFILE: "codemode", [name]: value };
  const { status, stderr } = spawnSync(process.execPath, [serverFile], {
    env: environment,
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(said);
});

it("the profile codemode listens at MCP_HOST and MCP_PORT over HTTP, and gives each client a sandbox of its own", async () => {
  const server = await startHttpServer([], {
    CLOUD_SANDBOX_MCP_PROFILE: "codemode",
    SANDBOX_IMAGE: "python",
    MCP_HOST: "127.0.0.2",
  });
  try {
    expect(server.url).toContain("//127.0.0.2:");
    const [one, other] = await Promise.all([server.connect(), server.connect()]);
    await plainText(one, "sandbox_write_file", { path: "mine", content: "one" });
    expect(await other.failure("sandbox_read_file", { path: "mine" })).toMatch(/sandbox_list_files/);
    expect(await plainText(one, "sandbox_read_file", { path: "mine" })).toBe("one");
    await Promise.all([one.client.close(), other.client.close()]);
  } finally {
    await server.stop();
  }
});

it("the profile codemode serves requests without a session, as the original does", async () => {
  const server = await startHttpServer([], {
    CLOUD_SANDBOX_MCP_PROFILE: "codemode",
    SANDBOX_IMAGE: "python",
  });
  const ask = async (method: string, params: object = {}): Promise<string> => {
    const request = posted({ id: 1, method, params }, server.authorization);
    const { status, body } = await exchange(server.url, request);
    expect(status).toBe(200);
    return body;
  };
  try {
    expect(await ask("tools/list")).toContain("sandbox_write_file");
    const file = { path: "note", content: "kept" };
    await ask("tools/call", { name: "sandbox_write_file", arguments: file });
    const read = { name: "sandbox_read_file", arguments: { path: "note" } };
    expect(await ask("tools/call", read)).toContain("kept");
    const mcp = await server.connect();
    expect(mcp.transport.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await mcp.failure("sandbox_read_file", { path: "note" })).toMatch(/sandbox_list_files/);
    await mcp.client.close();
  } finally {
    await server.stop();
  }
});
