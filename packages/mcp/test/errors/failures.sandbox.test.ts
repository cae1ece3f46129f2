import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../../test/support/free-port.js";
import { startLocalServer } from "../../../../test/support/local-server.js";
import { connect, type McpConnection } from "../support/mcp-connection.js";

/**
 * Text that is of no use to a user of a tool: stack traces, tokens, paths of HTTP operations, names of our functions.
 */
const noise = /\n\s+at |eyJ|undefined|\[object|\/files\/|\/v1\/|client\.|files\.|\bworkdir\b/;

describe("a call that cannot work says what to do", () => {
  let mcp: McpConnection;
  let sandbox_id: unknown;
  let deleted: unknown;
  beforeAll(async () => {
    mcp = await connect({ CLOUD_SANDBOX_MCP_TOOLSETS: "default,compatibility" });
    sandbox_id = (await mcp.result("create_sandbox")).id;
    deleted = (await mcp.result("create_sandbox")).id;
    await mcp.result("delete_sandbox", { id: deleted });
    await mcp.result("file_write", { sandbox_id, path: "/workspace/file", content: "" });
  });
  afterAll(() => mcp.client.close());

  it.each([
    [
      "an unknown sandbox",
      "execute_code",
      { sandbox_id: "1700000000unknown1", code: "1" },
      /list_sandboxes.*create_sandbox/,
    ],
    ["an unknown sandbox to look at", "get_sandbox", { id: "1700000000unknown1" }, /list_sandboxes/],
    ["no sandbox", "run_command", { command: "1" }, /sandbox_id is required: create_sandbox/],
    [
      "no sandbox for variables that stay",
      "execute_code",
      { code: "1", mode: "persistent" },
      /sandbox_id is required: create_sandbox/,
    ],
    [
      "too long a run that is waited for",
      "execute_code",
      { code: "1", timeout: 301 },
      /1 to 300 seconds; mode background allows more/,
    ],
    [
      "a language nobody knows",
      "execute_code_isolated",
      { code: "1", language: "cobol" },
      /one of python, javascript, bash, go/,
    ],
    ["an unknown template", "create_sandbox", { template_name: "nothing" }, /list_templates/],
    [
      "an unknown template of one run",
      "execute_code_isolated",
      { code: "1", template_name: "nothing" },
      /list_templates/,
    ],
    ["an unknown template to look at", "get_template", { name: "nothing" }, /list_templates/],
    [
      "a timeout of 0",
      "execute_code_isolated",
      { code: "1", timeout: 0 },
      /a whole number of 1 to 300 seconds/,
    ],
    [
      "a timeout of 301",
      "execute_code_isolated",
      { code: "1", timeout: 301 },
      /a whole number of 1 to 300 seconds/,
    ],
    ["a lifetime of 0", "create_sandbox", { timeout_seconds: 0 }, /a whole number of 1 to 86400 seconds/],
    [
      "a variable with an impossible name",
      "create_sandbox",
      { env_vars: { "1X": "v" } },
      /env_vars.1X must be a name/,
    ],
    ["no code", "execute_code_isolated", {}, /code is required/],
    [
      "an argument of another tool",
      "execute_code_isolated",
      { code: "1", template: "nope", minimum: true },
      /unknown argument template \(did you mean template_name\?\); unknown argument minimum/,
    ],
    ["a status nobody has", "list_sandboxes", { status: "gone" }, /status must be one of creating, running/],
    [
      "two templates",
      "create_sandbox",
      { template_name: "base", template_id: "1" },
      /^Both template_name and template_id are given; give one of them\.$/,
    ],
  ])("%s", async (_, name, given, step) => {
    const sentence = await mcp.failure(name, given);
    expect(sentence).toMatch(step);
    expect(sentence).not.toMatch(noise);
  });

  it.each([
    ["a path outside", "file_read", { path: "/etc/passwd" }, /under \/workspace or \/tmp/],
    [
      "a path that climbs out",
      "file_write",
      { path: "/workspace/../etc/passwd", content: "" },
      /under \/workspace or \/tmp/,
    ],
    ["a file that is not there", "file_read", { path: "/workspace/nothing" }, /file_list/],
    ["a directory that is not there", "file_list", { path: "/workspace/nothing" }, /file_list/],
    [
      "a directory to run in that is not there",
      "run_command",
      { command: "pwd", working_dir: "/workspace/nothing" },
      /working_dir \/workspace\/nothing does not exist\. Create the directory with file_mkdir, or name another one as working_dir, such as \/tmp\./,
    ],
    [
      "a file below a file",
      "file_write",
      { path: "/workspace/file/below", content: "" },
      /exists and is not a directory\. Choose another path, .*file_remove; file_list/,
    ],
    [
      "a directory where a file is",
      "file_mkdir",
      { path: "/workspace/file" },
      /exists and is not a directory\. Choose another path, .*file_remove; file_list/,
    ],
    ["an empty command", "run_command", { command: " " }, /command must not be empty/],
    ["a null byte in a command", "run_command", { command: "a\0b" }, /^command must not contain a null byte/],
    [
      "a callback that is no address",
      "execute_code_async",
      { code: "1", callback_url: "nonsense" },
      /^callback_url must be an http\(s\) address/,
    ],
    ["the mask in place of a value", "env_set", { env_vars: { A: "***MASKED***" } }, /Correct the argument/],
  ])("%s", async (_, name, given, step) => {
    const sentence = await mcp.failure(name, { sandbox_id, ...given });
    expect(sentence).toMatch(step);
    expect(sentence).not.toMatch(noise);
  });

  it.each([
    ["execute_code", { code: "1" }],
    ["file_read", { path: "/workspace/a" }],
    ["ping_vm", {}],
    ["list_processes", {}],
  ])("%s in a deleted sandbox", async (name, given) => {
    const sentence = await mcp.failure(name, { sandbox_id: deleted, ...given });
    expect(sentence).toMatch(/create_sandbox/);
    expect(sentence).not.toMatch(noise);
  });

  it("the server goes on working after all of these failures", async () => {
    expect(await mcp.result("execute_code", { sandbox_id, code: "print(1)" })).toMatchObject({
      stdout: "1\n",
    });
  });
});

describe("a backend", () => {
  it.each([
    ["CLOUD_SANDBOX_API_KEY", "CLOUD_SANDBOX_BASE_URL"],
    ["HOPX_API_KEY", "HOPX_BASE_URL"],
    ["HOPX_BEARER_TOKEN", "CLOUD_SANDBOX_BASE_URL"],
  ])("that does not know the key of %s", async (variable, address) => {
    const cloud = await startLocalServer({ apiKey: "the-right-key", args: ["--pool", "0"] });
    const mcp = await connect({ [variable]: "a-wrong-key", [address]: cloud.url });
    try {
      for (const [name, given] of [
        ["execute_code_isolated", { code: "1" }],
        ["list_sandboxes", {}],
      ] as const) {
        const sentence = await mcp.failure(name, given);
        expect(sentence).toContain(`must correct ${variable} in`);
        expect(sentence.match(/_API_KEY|_BEARER_TOKEN/g)).toHaveLength(1);
        expect(sentence).not.toMatch(/a-wrong-key|the-right-key/);
      }
    } finally {
      await mcp.client.close();
      await cloud.stop();
    }
  });

  it("that is elsewhere keeps no sandbox when the server ends", async () => {
    const cloud = await startLocalServer({ apiKey: "the-right-key", args: ["--pool", "0"] });
    const mcp = await connect({ CLOUD_SANDBOX_API_KEY: "the-right-key", CLOUD_SANDBOX_BASE_URL: cloud.url });
    const sandboxes = async (): Promise<number> => {
      const answer = await fetch(`${cloud.url}/v1/sandboxes`, { headers: { "x-api-key": "the-right-key" } });
      return ((await answer.json()) as { data: unknown[] }).data.length;
    };
    try {
      await mcp.result("create_sandbox");
      expect(mcp.stderr()).toMatch(/^cloud-sandbox-mcp: cloud backend[^\n]*\n$/);
      const unanswered = (name: string, given: Record<string, unknown>): Promise<unknown> =>
        mcp.call(name, given).catch(() => "no answer");
      const running = unanswered("execute_code_isolated", {
        language: "bash",
        code: "sleep 60",
        timeout: 60,
      });
      while ((await sandboxes()) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
      const coming = unanswered("create_sandbox", {});
      await mcp.client.close();
      // The second call may have been answered just before the end. Its sandbox has to be deleted in any case.
      expect((await Promise.all([running, coming]))[0]).toBe("no answer");
      // A request that the server has sent before its end still takes effect: wait for it.
      await expect.poll(sandboxes).toBe(0);
    } finally {
      await mcp.client.close();
      await cloud.stop();
    }
  });

  it.each([
    [
      "that cannot be reached",
      async () => ({ CLOUD_SANDBOX_API_KEY: "some-key", CLOUD_SANDBOX_BASE_URL: await closedPort() }),
      /CLOUD_SANDBOX_BASE_URL/,
    ],
    [
      "of HOPX's variables that cannot be reached",
      async () => ({ HOPX_API_KEY: "some-key", HOPX_BASE_URL: await closedPort() }),
      /the network and HOPX_BASE_URL,/,
    ],
    [
      "whose URL is none",
      async () => ({ CLOUD_SANDBOX_API_KEY: "some-key", CLOUD_SANDBOX_BASE_URL: "cloud" }),
      /CLOUD_SANDBOX_BASE_URL/,
    ],
    ["that has no key", async () => ({ CLOUD_SANDBOX_BACKEND: "cloud" }), /Set CLOUD_SANDBOX_API_KEY/],
    [
      "that has an empty key",
      async () => ({ CLOUD_SANDBOX_BACKEND: "cloud", CLOUD_SANDBOX_API_KEY: " " }),
      /Set CLOUD_SANDBOX_API_KEY/,
    ],
    [
      "that is neither cloud nor local",
      async () => ({ CLOUD_SANDBOX_BACKEND: "moon" }),
      /must be cloud or local/,
    ],
    [
      "that has no runtime on this machine",
      async () => ({ PATH: "/nowhere" }),
      /bubblewrap.*CLOUD_SANDBOX_API_KEY/,
    ],
  ])("%s", async (_, environment, step) => {
    const mcp = await connect(await environment());
    try {
      for (let time = 0; time < 2; time += 1) {
        const sentence = await mcp.failure("execute_code_isolated", { code: "1" });
        expect(sentence).toMatch(step);
        expect(sentence).not.toMatch(noise);
        expect(sentence).not.toContain("some-key");
      }
      expect((await mcp.client.listTools()).tools.length).toBeGreaterThan(20);
      expect(mcp.stderr()).not.toContain("some-key");
      const said = mcp.stderr().trimEnd().split("\n");
      expect(said).toEqual([...new Set(said)]);
    } finally {
      await mcp.client.close();
    }
  });
});

const closedPort = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;
