import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

let mcp: McpConnection;
beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_BACKEND: "local" });
});
afterAll(() => mcp.client.close());

it("a sandbox that was not used is stopped, and started by the next call, also by its name", async () => {
  const wanted = { name: "work", on_timeout: "stop", idle_timeout_seconds: 1 };
  const made = await mcp.result("create_sandbox", wanted);
  expect(made).toMatchObject({ on_timeout: "stop", idle_timeout_seconds: 1, auto_start: true });
  await mcp.result("file_write", { sandbox_id: made.id, path: "/workspace/a", content: "kept" });
  const isStopped = async () => (await mcp.result("get_sandbox", { id: made.id })).status;
  await expect.poll(isStopped, { timeout: 20_000 }).toBe("stopped");
  const read = await mcp.result("file_read", { sandbox_id: made.id, path: "/workspace/a" });
  expect(read).toMatchObject({ content: "kept" });
  await expect.poll(isStopped, { timeout: 20_000 }).toBe("stopped");
  expect(await mcp.result("create_sandbox", wanted)).toMatchObject({
    id: made.id,
    created: false,
    status: "running",
  });
  await mcp.result("delete_sandbox", { id: made.id });
});
