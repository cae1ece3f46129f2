/** Connects a client of the MCP SDK's first major version to the built MCP server. */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

export const serverFile = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface McpConnection<Transport = StdioClientTransport> {
  readonly client: Client;
  readonly transport: Transport;
  /** What the server has written to stderr so far. */
  readonly stderr: () => string;
  /** Calls a tool. The client checks the structured content of the result against the tool's output schema. */
  call(name: string, given?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  /** Calls a tool, which must not fail. Resolves with the structured content. */
  result(
    name: string,
    given?: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<Record<string, unknown>>;
  /** Calls a tool, which must fail. Resolves with the sentence of the failure. */
  failure(name: string, given?: Record<string, unknown>): Promise<string>;
}

type CallOptions = Parameters<Client["callTool"]>[2];

export async function connect(environment: Record<string, string> = {}): Promise<McpConnection> {
  // Boot no sandbox in advance: that takes as much CPU as a test.
  const env = { ...getDefaultEnvironment(), CLOUD_SANDBOX_POOL: "0", ...environment };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [serverFile],
    env,
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  return connectionOf(client, transport, () => stderr);
}

export async function connectionOf<Transport>(
  client: Client,
  transport: Transport,
  stderr: () => string,
): Promise<McpConnection<Transport>> {
  // List the tools first: only then does the client know the output schemas, and checks results.
  await client.listTools();

  const call: McpConnection["call"] = async (name, given = {}, options) =>
    (await client.callTool({ name, arguments: given }, undefined, options)) as CallToolResult;
  return {
    client,
    transport,
    stderr,
    call,
    result: async (name, given, options) => {
      const { isError, structuredContent, content } = await call(name, given, options);
      if (isError || structuredContent === undefined) throw new Error(`${name} failed: ${textOf(content)}`);
      return structuredContent;
    },
    failure: async (name, given) => {
      const { isError, content } = await call(name, given);
      if (!isError) throw new Error(`${name} did not fail: ${textOf(content)}`);
      return textOf(content);
    },
  };
}

/** Calls a tool whose structured content is only its text. Resolves with the text. */
export async function plainText(
  mcp: Pick<McpConnection, "call">,
  name: string,
  given: Record<string, unknown> = {},
): Promise<string> {
  const { content, isError = false, structuredContent } = await mcp.call(name, given);
  const text = textOf(content);
  if (isError || structuredContent?.result !== text) throw new Error(`${name} is no plain text: ${text}`);
  return text;
}

export function textOf(content: CallToolResult["content"]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}
