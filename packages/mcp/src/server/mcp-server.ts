/** Offers a profile's tools, resources and prompts over MCP, on any transport. */
import { McpServer, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";
import { unknownCursor } from "../resources/page.js";
import { viewOf } from "../resources/view.js";
import type { Profile } from "../session/profile.js";
import type { Session } from "../session/session.js";
import { version } from "../settings.js";
import { listedInput, portableSchema } from "../tools/definition/portable-schema.js";
import { errorAnswer } from "./received-message.js";
import { registerTool, type SharedToolParts } from "./registered-tool.js";

/** How long clients may cache lists, which are the same for everyone and change only with the version. */
const hour = { ttlMs: 3_600_000, cacheScope: "public" } as const;

const changes = ["tools", "prompts", "resources"].map((list) => `notifications/${list}/list_changed`);

/** Tools, prompts and resources that are known only while the server runs. */
export interface Additions {
  /** Registers them with `server`, and keeps them up to date if `isLasting`: `server` serves more than one request. */
  add(server: McpServer, shared: SharedToolParts, isLasting: boolean): Promise<void>;
  /** Calls `listener` whenever they have changed. */
  onChange(listener: () => void): void;
}

/** The tools, prompts and resources that the server offers to all clients. */
export interface Offer {
  /** The profile, with only the tools that were selected. */
  readonly profile: Profile;
  /** Tools and resources that are offered beside the profile's. */
  readonly additions?: Additions | undefined;
  /** Whether tools do without asking what the user would be asked for. Default: false. */
  readonly isConsentGiven?: boolean;
  /** Receives one line at a time, for the people who run the server. */
  readonly log: (line: string) => void;
}

/** The lists that the SDK returns as one page, whatever cursor is asked for. */
const wholeLists = new Set(["tools/list", "prompts/list", "resources/templates/list"]);

/** Refuses cursors of lists that have only one page: a client that sends one would take the whole list for a further page. */
class ServerOfWholeLists extends McpServer {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      const isPage = "method" in message && "id" in message && wholeLists.has(message.method);
      if (!isPage || message.params?.cursor === undefined) return onmessage?.(message, extra);
      const answer = errorAnswer(message.id, ProtocolErrorCode.InvalidParams, unknownCursor);
      transport.send({ ...answer, id: message.id }).catch(() => undefined);
    };
  }
}

export function createServer(
  { additions, isConsentGiven = false, log, profile }: Offer,
  session: Session,
  isLasting = true,
): McpServer | Promise<McpServer> {
  const isFixed = additions === undefined;
  const server = new ServerOfWholeLists(
    { name: "cloud-sandbox", title: "Cloud Sandbox", version },
    {
      capabilities: { tools: { listChanged: !isFixed }, ...(profile.relaysLogs && { logging: {} }) },
      // Each tool that is added or removed would send a notification of its own.
      debouncedNotificationMethods: changes,
      instructions: profile.instructions,
      cacheHints: {
        ...(isFixed && { "tools/list": hour, "prompts/list": hour, "resources/templates/list": hour }),
        "server/discover": hour,
      },
    },
  );
  const offered = new Set(profile.tools.map(({ name }) => name));
  const shared = { profile, log, session, offered, isConsentGiven };
  const isCompatible = profile.tools.some(({ toolset }) => toolset === "compatibility");
  for (const tool of profile.tools) {
    const { input, output } = tool;
    const entry = {
      ...tool,
      inputSchema: () => listedInput(input, { isCompatible }),
      outputSchema: output && (() => portableSchema(output, "output")),
      _meta: viewOf(tool, profile),
      isRelayed: tool.toolset === "mcp",
    };
    registerTool(server, entry, tool.run, shared);
  }
  for (const register of [...(profile.resources ?? []), ...(profile.prompts ?? [])])
    register(server, session, profile);
  return additions === undefined ? server : additions.add(server, shared, isLasting).then(() => server);
}
