/** Calls with parameters and values as prompts and programs for HOPX's own MCP server use them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
let sandbox_id: unknown;
beforeAll(async () => {
  mcp = await connect({
    CLOUD_SANDBOX_BACKEND: "local",
    CLOUD_SANDBOX_MCP_TOOLSETS: "default,compatibility",
  });
  sandbox_id = (await mcp.result("create_sandbox")).id;
});
afterAll(() => mcp.client.close());

it.each([
  ["file_list", { path: "/workspace" }],
  ["list_processes", {}],
  ["execute_list_processes", {}],
])("%s accepts -1 as no limit", async (tool, given) => {
  const listed = await mcp.result(tool, { sandbox_id, max_results: -1, ...given });
  expect(listed).toMatchObject({ truncated: false });
  expect(listed).not.toHaveProperty("note");
});

it.each([
  ["list_sandboxes", { limit: 101 }, /^101 entries were asked for; 100 is the most/],
  ["list_templates", { limit: 5_000 }, /^5000 entries were asked for; 100 is the most/],
])("%s returns as much as it can of a larger limit: %o", async (tool, given, note) => {
  expect(await mcp.result(tool, given)).toMatchObject({ has_more: false, note: expect.stringMatching(note) });
  const { data } = await mcp.result(tool, { limit: -1 });
  expect(data).not.toHaveLength(0);
});

it.each([0, -2, 1.5])("a limit of %d is refused", async (limit) => {
  expect(await mcp.failure("list_sandboxes", { limit })).toContain("1 to 100, or -1 for no limit");
});

it("mode isolated runs code in a sandbox of its own, whichever sandbox is named, and says so", async () => {
  await mcp.result("file_write", { sandbox_id, path: "/workspace/mine", content: "" });
  const code = "import os; print(os.listdir('/workspace'))";
  const run = await mcp.result("execute_code", { sandbox_id, mode: "isolated", code });
  expect(run).toMatchObject({
    stdout: "[]\n",
    mode: "isolated",
    note: "Mode isolated ran the code in a sandbox of its own, not in the given one.",
  });
  expect(run.sandbox_id).not.toBe(sandbox_id);
});

it.each([
  ["execute_code", {}, "persistent"],
  ["execute_code_persistent", {}, "persistent"],
  ["execute_code_rich", {}, "rich"],
  ["execute_code", { mode: "rich" }, "rich"],
  ["execute_code", { mode: "background" }, "background"],
  ["execute_code_background", {}, "background"],
])("a result of %s %o says in which mode it ran: %s", async (tool, given, mode) => {
  expect(await mcp.result(tool, { sandbox_id, code: "1", ...given })).toMatchObject({ mode, sandbox_id });
});

it("variables stay from one execute_code_persistent to the next", async () => {
  await mcp.result("execute_code_persistent", { sandbox_id, code: "kept = 6" });
  expect(await mcp.result("execute_code_persistent", { sandbox_id, code: "kept * 7" })).toMatchObject({
    result: "42",
  });
});

it.each(["Python", "PYTHON"])("the language %s is known", async (language) => {
  const run = await mcp.result("execute_code_isolated", { code: "print(1)", language });
  expect(run).toMatchObject({ stdout: "1\n" });
});
