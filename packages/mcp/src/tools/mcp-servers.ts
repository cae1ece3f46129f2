/** Other people's MCP servers, each in a sandbox of its own. */
import * as z from "zod";
import { Answer } from "../results/answer.js";
import { cutMiddle, firstEntries } from "../results/output-limit.js";
import { relayedResult } from "../results/relayed-result.js";
import type { ClientServers } from "../servers/client-servers.js";
import { readArguments } from "./definition/arguments.js";
import { text, wholeSeconds } from "./definition/input-fields.js";
import { executing, readOnly, readOnlyInside, type Tool, type ToolContext, tool } from "./definition/tool.js";

const server = text.describe("Server, by name");

/** Bytes of tools that one result has; more than usual, because a model needs the schemas whole. */
const toolsBudget = 60_000;
/** Bytes of the names of tools in a note. */
const namesBudget = 20_000;
/** Seconds that a call waits for an answer unless it says otherwise, and at most. */
const usualSeconds = 60;
export const mostSeconds = 300;

const mcpServerList = tool({
  name: "mcp_server_list",
  title: "List MCP servers",
  description:
    "Lists the MCP servers that can be used here, each in its own sandbox, and what each may reach.",
  toolset: "mcp",
  annotations: readOnly,
  input: z.object({}),
  output: z.looseObject({
    servers: z.array(
      z.looseObject({
        name: z.string(),
        description: z.string().optional(),
        internet: z.string().describe("none, all, or the hosts that it may reach"),
        status: z.string().describe("running, starting or stopped: the first use starts it"),
      }),
    ),
  }),
  handler: async (context) => ({
    servers: serversOf(context)
      .list()
      .map(({ internet, ...summary }) => ({
        ...summary,
        internet: typeof internet === "string" ? internet : internet.join(", "),
      })),
  }),
});

const mcpToolsList = tool({
  name: "mcp_tools_list",
  title: "List an MCP server's tools",
  description:
    "Lists the tools of an MCP server with their input schemas. Starts the server if it does not run.",
  toolset: "mcp",
  annotations: readOnlyInside,
  input: z.object({
    server,
    tool: text.optional().describe("Only this tool"),
  }),
  output: z.looseObject({
    server: z.string(),
    tools: z.array(z.looseObject({ name: z.string() })),
    note: z.string().optional(),
  }),
  handler: async ({ server, tool: wanted, ...context }) => {
    const all = await serversOf(context).tools(server, context);
    const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
    const tools = chosen.map(({ name, title, description, inputSchema, annotations }) => ({
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      inputSchema,
      ...(annotations !== undefined && { annotations }),
    }));
    const { items, truncated } = firstEntries(tools, tools.length, toolsBudget);
    const rest = truncated ? tools.slice(items.length).map(({ name }) => name) : [];
    const names = all.map(({ name }) => name);
    const listed = (some: readonly string[]): string => cutMiddle(some.join(", "), namesBudget).text;
    return {
      server,
      tools: items,
      count: all.length,
      ...(rest.length > 0 && {
        note: `Left out, because the list is too long: ${listed(rest)}. Give one as tool to get its schema.`,
      }),
      ...(wanted !== undefined && tools.length === 0 && { note: `The server has ${listed(names)}.` }),
    };
  },
});

const input = z.object({
  server,
  tool: text.describe("Tool, by name, from mcp_tools_list"),
  arguments: z
    .record(z.string(), z.unknown(), "must be an object")
    .optional()
    .describe("Arguments, as the tool's inputSchema says"),
  timeout: wholeSeconds(mostSeconds)
    .default(usualSeconds)
    .describe(`Seconds to wait, 1-${mostSeconds}; each report of progress restarts the time`),
});

/** Has no output schema, because the result is that of the other server's tool. */
const mcpToolCall: Tool = {
  name: "mcp_tool_call",
  title: "Call an MCP server's tool",
  description: "Calls a tool of an MCP server, and returns its result. Starts the server if it does not run.",
  toolset: "mcp",
  annotations: executing,
  input,
  run: async (received, context) => {
    const {
      server,
      tool,
      arguments: args = {},
      timeout,
    } = readArguments({ name: "mcp_tool_call", input }, received);
    return callRelayed(context, { server, tool, args, timeout, isStructured: false });
  },
};

export interface RelayedCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Seconds to wait for the answer. */
  readonly timeout: number;
  /** Whether clients expect a structured result. */
  readonly isStructured: boolean;
}

/** Calls a tool of a server, and passes its result on. */
export async function callRelayed(
  context: ToolContext,
  { args, isStructured, server, timeout, tool }: RelayedCall,
): Promise<Answer> {
  const result = await serversOf(context).call(server, tool, args, context, timeout);
  return new Answer({}, { whole: relayedResult(result, { server, isStructured }) });
}

function serversOf({ servers }: Pick<ToolContext, "servers">): ClientServers {
  if (servers === undefined) throw new Error("no MCP servers are configured");
  return servers;
}

export const mcpServerTools: readonly Tool[] = [mcpServerList, mcpToolsList, mcpToolCall];
