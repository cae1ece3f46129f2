/** Other people's MCP servers for the assistant: which ones, where they are kept, and what is offered of them. */
import { cacheDirectory } from "@cloud-sandbox/server-kit/user-cache";
import { listing } from "../resources/listing.js";
import { serverResources } from "../resources/server-resources.js";
import type { Additions } from "../server/mcp-server.js";
import type { ServerOptions } from "../server/server-options.js";
import { OtherServers } from "../servers/other-servers.js";
import { serverStarter } from "../servers/start-server.js";
import type { LocalOptions } from "../session/backend.js";
import type { Profile, ResourceList } from "../session/profile.js";
import { type Environment, OptionError } from "../settings.js";
import { mcpServerTools } from "../tools/mcp-servers.js";
import { configuredServers } from "./configured-servers.js";
import { FirstClassServers } from "./first-class-servers.js";

export interface Gateway {
  readonly servers: OtherServers;
  /** Lists the tools and resources of other servers beside this program's own. */
  readonly additions: Additions | undefined;
  /** Options of the local backend that servers need. */
  readonly local: LocalOptions;
  readonly extend: (profile: Profile) => Profile;
}

type GatewayOptions = Pick<ServerOptions, "mcpConfig" | "mcpGateway" | "mcpServer" | "readOnly">;

/** Throws an {@link OptionError} for a server without a valid configuration. */
export async function openGateway(
  { mcpConfig, mcpGateway, mcpServer, readOnly }: GatewayOptions,
  environment: Environment,
  log: (line: string) => void,
): Promise<Gateway> {
  if (readOnly === true)
    throw new OptionError(
      "Tools of other MCP servers may change something: drop --read-only, or --mcp-gateway and --mcp-server.",
    );
  const names = [...new Set([...mcpGateway, ...mcpServer])];
  const configurations = await configuredServers(names, mcpConfig);
  const servers = new OtherServers({ configurations, environment, start: serverStarter(log) });
  const additions = mcpServer.length === 0 ? undefined : new FirstClassServers(servers, mcpServer, log);
  const isInstalled = configurations.some(({ installCommands = [] }) => installCommands.length > 0);
  return {
    servers,
    additions,
    local: isInstalled ? { layersBelow: cacheDirectory(environment) } : {},
    extend: (profile) =>
      withServers(profile, {
        tools: mcpGateway.length > 0,
        resourceList: additions && (() => additions.resources()),
      }),
  };
}

const instruction =
  "- Other MCP servers run in sandboxes of their own: mcp_server_list names them, mcp_tools_list their tools, mcp_tool_call calls one.";

interface ProfileAdditions {
  /** Whether to offer the three tools through which servers are called. */
  readonly tools: boolean;
  /** The resources of servers, if they are listed. */
  readonly resourceList?: ResourceList | undefined;
}

/** A profile with the tools for other people's MCP servers beside its own. */
function withServers(profile: Profile, { resourceList, tools }: ProfileAdditions): Profile {
  const extended: Profile = {
    ...profile,
    resources: [...(profile.resources ?? []), serverResources, listing],
    resourceLists: [...(profile.resourceLists ?? []), ...(resourceList === undefined ? [] : [resourceList])],
    relaysLogs: true,
  };
  if (!tools) return extended;
  return {
    ...extended,
    instructions: `${profile.instructions}\n${instruction}`,
    tools: [...profile.tools, ...mcpServerTools],
  };
}
