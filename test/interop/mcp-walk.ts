import type { McpConnection } from "../../packages/mcp/test/support/mcp-connection.js";

/** Uses the MCP server once, over its connection. Resolves with what its tools told. */
export async function useMcpServer({ result }: Pick<McpConnection, "result">): Promise<object> {
  const isolated = await result("execute_code_isolated", { code: "print(6 * 7)" });
  const { id: sandbox_id } = await result("create_sandbox", { template_name: "base" });
  await result("execute_code", { sandbox_id, code: "x = 41" });
  const kept = await result("execute_code", { sandbox_id, code: "print(x + 1)" });
  const path = "/workspace/note.txt";
  await result("file_write", { sandbox_id, path, content: "übung\n" });
  const read = await result("file_read", { sandbox_id, path });
  await result("delete_sandbox", { id: sandbox_id });
  return { isolated: isolated.stdout, kept: kept.stdout, file: read.content };
}

/** What {@link useMcpServer} resolves with if all is well. */
export const mcpWalk = { isolated: "42\n", kept: "42\n", file: "übung\n" };
