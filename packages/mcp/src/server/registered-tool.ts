/** Registers a tool with the SDK: its entry in the list, its progress, its result and its failures. */
import type {
  CallToolResult,
  McpServer,
  RegisteredTool,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { type Answer, compactText, originOf } from "../results/answer.js";
import type { Profile } from "../session/profile.js";
import type { Session } from "../session/session.js";
import type { ToolContext } from "../tools/definition/tool.js";
import { progressOf, relayedLog } from "./progress.js";

/** A tool as clients list it. */
export interface ToolEntry {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations: ToolAnnotations;
  readonly inputSchema: () => Record<string, unknown>;
  readonly outputSchema?: (() => Record<string, unknown>) | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
  /** Whether the tool is another MCP server's, which measures its own progress. */
  readonly isRelayed: boolean;
}

/** The parts that all tools of a client share. */
export interface SharedToolParts {
  readonly profile: Profile;
  readonly log: (line: string) => void;
  readonly session: Session;
  /** Names of the tools that the client is offered. */
  readonly offered: ReadonlySet<string>;
}

export function registerTool(
  server: McpServer,
  tool: ToolEntry,
  run: (args: unknown, call: ToolContext) => Promise<Answer>,
  { log, offered, profile, session }: SharedToolParts,
): RegisteredTool {
  const { _meta, annotations, description, inputSchema, name, outputSchema, title } = tool;
  const entry = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    annotations,
    inputSchema: unchecked(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: unchecked(outputSchema) }),
    ...(_meta !== undefined && { _meta }),
  };
  return server.registerTool(name, entry, async (args, context) => {
    const counted = progressOf(context);
    const progress = tool.isRelayed ? counted?.countLess() : counted;
    const report: ToolContext["report"] = (step, measured) => progress?.report(step, measured);
    const { signal } = context.mcpReq;
    const own = { signal, report, offered, ...(tool.isRelayed && { log: relayedLog(context) }) };
    const work = session.call((call) => run(args, call), own);
    return work
      .finally(() => progress?.end())
      .then(
        (answer) => success(tool, answer),
        (error: unknown) => failure(tool, error, profile, session, log),
      );
  });
}

function success(
  tool: ToolEntry,
  { structure, text = compactText(structure), attachments, whole }: Answer,
): CallToolResult {
  if (whole !== undefined) return whole;
  return {
    structuredContent: structure,
    content: [{ type: "text", text }, ...attachments],
    ...originOf(tool.annotations),
  };
}

async function failure(
  tool: ToolEntry,
  error: unknown,
  { advice }: Profile,
  { environment }: Session,
  log: (line: string) => void,
): Promise<CallToolResult> {
  // Import this module only here: it loads the client library, which would slow down the server's start.
  const { explainFailure, unforeseen } = await import("../errors/tool-failure.js");
  const explained = explainFailure(error, advice, environment);
  if (explained === undefined)
    log(`${tool.name} failed: ${error instanceof Error ? error.message : "unknown"}`);
  return {
    isError: true,
    content: [{ type: "text", text: explained ?? unforeseen }],
    ...originOf(tool.isRelayed ? { openWorldHint: true } : tool.annotations),
  };
}

/** A schema that the SDK lists and does not check: the tool checks arguments itself, with messages that say what to do. */
function unchecked(json: () => Record<string, unknown>): StandardSchemaWithJSON {
  return {
    "~standard": {
      version: 1,
      vendor: "cloud-sandbox",
      validate: (value) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  };
}
