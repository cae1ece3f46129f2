/** Offers a profile's tools, resources and prompts over MCP, on any transport. */
import { type CallToolResult, McpServer, type StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { viewOf } from "../resources/view.js";
import type { Answer } from "../results/answer.js";
import { compactText } from "../results/compact-text.js";
import { originOf } from "../results/untrusted-content.js";
import type { Profile } from "../session/profile.js";
import type { Session } from "../session/session.js";
import { version } from "../settings/version.js";
import type { ListedTool } from "../tools/definition/listed-tool.js";
import { progressOf } from "./progress.js";

/** How long clients may cache lists, which are the same for everyone and change only with the version. */
const hour = { ttlMs: 3_600_000, cacheScope: "public" } as const;

/** What the server offers, the same for all clients. */
export interface Offer {
  /** The profile, with only the tools that were selected. */
  readonly profile: Profile;
  /** Receives one line at a time, for the people who run the server. */
  readonly log: (line: string) => void;
}

export function createServer({ profile, log }: Offer, session: Session): McpServer {
  const server = new McpServer(
    { name: "cloud-sandbox", title: "Cloud Sandbox", version },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: profile.instructions,
      cacheHints: {
        "tools/list": hour,
        "prompts/list": hour,
        "resources/templates/list": hour,
        "server/discover": hour,
      },
    },
  );
  const offered = new Set(profile.tools.map(({ name }) => name));
  for (const tool of profile.tools) {
    const { name, title, description, annotations } = tool;
    const schemas = {
      inputSchema: unchecked(tool.inputSchema),
      outputSchema: unchecked(tool.outputSchema),
    };
    const _meta = viewOf(tool, profile);
    const entry = { title, description, annotations, ...schemas, ...(_meta && { _meta }) };
    server.registerTool(name, entry, async (given, context) => {
      const progress = progressOf(context);
      const report = (step: string): void => progress?.report(step);
      const work = session.call(
        async (call) => {
          const { tools } = await profile.load();
          const called = tools.find((loaded) => loaded.name === name);
          if (called === undefined) throw new Error(`the tool ${name} is listed, but has no handler`);
          return called.run(given, call);
        },
        { signal: context.mcpReq.signal, report, offered },
      );
      return work
        .finally(() => progress?.end())
        .then(
          (answer) => success(tool, answer),
          (error: unknown) => failure(tool, error, { profile, log }, session),
        );
    });
  }
  for (const register of [...(profile.resources ?? []), ...(profile.prompts ?? [])])
    register(server, session, profile);
  return server;
}

function success(
  tool: ListedTool,
  { structure, text = compactText(structure), attachments }: Answer,
): CallToolResult {
  return {
    structuredContent: structure,
    content: [{ type: "text", text }, ...attachments],
    ...originOf(tool),
  };
}

async function failure(
  tool: ListedTool,
  error: unknown,
  { profile, log }: Offer,
  { environment }: Session,
): Promise<CallToolResult> {
  // This module imports the client library, which the start must not load.
  const { explainFailure, unforeseen } = await import("../errors/tool-failure.js");
  const explained = explainFailure(error, profile.advice, environment);
  if (explained === undefined)
    log(`${tool.name} failed: ${error instanceof Error ? error.message : "unknown"}`);
  return { isError: true, content: [{ type: "text", text: explained ?? unforeseen }], ...originOf(tool) };
}

/** A schema that the SDK lists and does not check: the tool checks arguments itself, with messages that say what to do. */
function unchecked(schema: Record<string, unknown>): StandardSchemaWithJSON {
  const json = (): Record<string, unknown> => schema;
  return {
    "~standard": {
      version: 1,
      vendor: "cloud-sandbox",
      validate: (value) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  };
}
