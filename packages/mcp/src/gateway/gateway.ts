/** Other people's MCP servers for the assistant: which ones, where they are kept, and what is offered of them. */
import { cacheDirectory } from "@cloud-sandbox/server-kit/user-cache";
import { withServers } from "../profiles/gateway/with-servers.js";
import type { Additions } from "../server/mcp-server.js";
import type { ServerOptions } from "../server/server-options.js";
import { OtherServers } from "../servers/other-servers.js";
import { serverStarter } from "../servers/start-server.js";
import type { LocalOptions } from "../session/backend.js";
import type { Profile } from "../session/profile.js";
import type { Environment } from "../settings/environment.js";
import { OptionError } from "../settings/option-error.js";
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
