import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StdioClientTransport as FirstStdio,
  getDefaultEnvironment,
} from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttpServer } from "../support/http-server.js";
import { serverFile } from "../support/mcp-connection.js";
import { toolTable } from "../tools/tool-table.js";

interface ListedTool {
  readonly name: string;
  readonly outputSchema?: object | undefined;
}

/** The methods that the clients of both major versions of the MCP SDK have. */
interface AnyClient {
  listTools(): Promise<{ tools: ListedTool[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

const info = { name: "test", version: "1.0.0" };
const command = { command: process.execPath, args: [serverFile], stderr: "ignore" as const };
const toolsets = "default,compatibility";
const environment = {
  ...getDefaultEnvironment(),
  CLOUD_SANDBOX_BACKEND: "local",
  CLOUD_SANDBOX_MCP_TOOLSETS: toolsets,
};
let http: HttpServer;
beforeAll(async () => {
  http = await startHttpServer(["--no-token", "--toolsets", toolsets]);
});
afterAll(() => http.stop());

async function first(transport: FirstStdio | FirstHttp): Promise<AnyClient> {
  const client = new FirstClient(info);
  await client.connect(transport as FirstStdio);
  return client;
}

async function second(mode: "legacy" | "auto", transport: SecondStdio | SecondHttp): Promise<AnyClient> {
  const client = new SecondClient(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  expect(client.getProtocolEra()).toBe(mode === "auto" ? "modern" : "legacy");
  return client;
}

describe.each<[string, () => Promise<AnyClient>]>([
  ["the first generation's, over stdio", () => first(new FirstStdio({ ...command, env: environment }))],
  ["the first generation's, over HTTP", () => first(new FirstHttp(new URL(http.url)))],
  [
    "the second generation's, over stdio",
    () => second("auto", new SecondStdio({ ...command, env: environment })),
  ],
  ["the second generation's, over HTTP", () => second("auto", new SecondHttp(new URL(http.url)))],
  [
    "the second generation's, over HTTP with a session",
    () => second("legacy", new SecondHttp(new URL(http.url))),
  ],
])("a client that is %s", (_, connect) => {
  it("can use every tool, and finds each result as its schema describes it", async () => {
    const client = await connect();
    try {
      const { tools } = await client.listTools();
      const described = describedOutputs(tools);
      const answers: Record<string, Record<string, unknown>> = {};
      for (const [name, given] of toolTable) {
        const args = typeof given === "function" ? given(answers) : given;
        const result = await client.callTool({ name, arguments: args });
        expect({ name, ...result }).not.toMatchObject({ isError: true });
        const structure = result.structuredContent as Record<string, unknown>;
        expect({ name, problems: problemsOf(described.get(name), structure) }).toEqual({
          name,
          problems: [],
        });
        answers[name] = structure;
      }
      // Call tools that are not in the table without arguments: they work, or say which are missing.
      const called = toolTable.map(([name]) => name);
      for (const { name } of tools.filter((tool) => !called.includes(tool.name))) {
        const { isError, content } = await client.callTool({ name, arguments: {} });
        if (isError === true) expect(JSON.stringify(content)).toMatch(/required|give|names/i);
      }
    } finally {
      await client.close();
    }
  });
});

function describedOutputs(tools: readonly ListedTool[]): Map<string, ValidateFunction> {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  return new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema ?? false)]));
}

function problemsOf(validate: ValidateFunction | undefined, value: unknown): unknown[] {
  if (validate === undefined) return ["the tool is not listed"];
  return validate(value) ? [] : (validate.errors ?? []);
}
