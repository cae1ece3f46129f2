/** Reads MCP server configurations from pages, in the form of each MCP client. */
import { parse as toml } from "smol-toml";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import type { CodeBlock } from "./code-blocks.js";

const server = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).default({}),
});
export type ConfiguredServer = z.output<typeof server>;

const servers = z.record(z.string(), server);
const configuration = z.union([
  z.object({ mcpServers: servers }).transform(({ mcpServers }) => Object.values(mcpServers)),
  z.object({ servers }).transform(({ servers }) => Object.values(servers)),
  z.object({ context_servers: servers }).transform(({ context_servers }) => Object.values(context_servers)),
  z.object({ mcp_servers: servers }).transform(({ mcp_servers }) => Object.values(mcp_servers)),
  z
    .object({ schema: z.literal("v1"), mcpServers: z.array(server) })
    .transform(({ mcpServers }) => mcpServers),
]);

/** The first document of a block: the manifests of a cluster, which configure no servers, have several in one. */
const yaml = (text: string): unknown => [parseAllDocuments(text)].flat()[0]?.toJS();

const parsers: Readonly<Record<string, (text: string) => unknown>> = { json: JSON.parse, toml, yaml };

/** The servers that a code block configures. Undefined if it configures none. */
export function configuredServers({ language, code }: CodeBlock): ConfiguredServer[] | undefined {
  return configuration.safeParse(parsers[language]?.(code)).data;
}

/** The server that a command like `claude mcp add name -- node …` adds. Undefined for other commands. */
export function addedServer(line: string): ConfiguredServer | undefined {
  const object = /^code --add-mcp '(.+)'$/.exec(line)?.[1];
  if (object !== undefined) return server.parse(JSON.parse(object));
  const words = /^(?:claude|codex|gemini) mcp add \S+ (?:-- )?(node .+)$/.exec(line)?.[1]?.split(" ");
  return words && server.parse({ command: words[0], args: words.slice(1) });
}

/** The server in a link that adds it to an MCP client by one click. */
export function linkedServer(link: URL): ConfiguredServer {
  const text = link.searchParams.get("config") ?? "";
  return server.parse(JSON.parse(text.startsWith("{") ? text : Buffer.from(text, "base64").toString()));
}
