import { expect, onTestFinished, test } from "vitest";
import { connect } from "../support/mcp-connection.js";

test("an assistant keeps files of a sandbox, goes back to them, and begins others with them", async () => {
  const mcp = await connect({ CLOUD_SANDBOX_MCP_TOOLSETS: "default,snapshots" });
  onTestFinished(() => mcp.client.close());
  const { id } = await mcp.result("create_sandbox", { template_name: "base" });
  const file = { sandbox_id: id, path: "/workspace/file" };
  await mcp.result("file_write", { ...file, content: "first" });
  const snapshot = await mcp.result("create_snapshot", { sandbox_id: id, name: "kept" });
  expect(snapshot).toMatchObject({ name: "kept", sandbox_id: id, template: "base", consistent: true });
  await mcp.result("file_write", { ...file, content: "second" });

  const other = await mcp.result("create_sandbox", { snapshot: "kept" });
  expect(await mcp.result("file_read", { ...file, sandbox_id: other.id })).toMatchObject({
    content: "first",
  });
  const forks = await mcp.result("fork_sandbox", { sandbox_id: id, count: 2 });
  expect(forks.data).toHaveLength(2);
  for (const fork of forks.data as { id: string }[])
    expect(await mcp.result("file_read", { ...file, sandbox_id: fork.id })).toMatchObject({
      content: "second",
    });
  expect(await mcp.result("restore_sandbox", { sandbox_id: id, snapshot: "kept" })).toMatchObject({
    id,
    status: "running",
  });
  expect(await mcp.result("file_read", file)).toMatchObject({ content: "first" });
  expect(await mcp.result("list_snapshots", {})).toMatchObject({ data: [{ id: snapshot.id }] });
  expect(await mcp.result("delete_snapshot", { snapshot: "kept" })).toMatchObject({ deleted: true });
  expect(await mcp.failure("create_sandbox", { snapshot: "kept" })).toContain("of the toolset snapshots");
});
