/** A profile with the tools for other people's MCP servers beside its own. */
import { listing } from "../../resources/listing.js";
import { serverResources } from "../../resources/server-resources.js";
import type { Profile, ResourceList } from "../../session/profile.js";
import { mcpServerTools } from "../../tools/mcp-servers.js";

const instruction =
  "- Other MCP servers run in sandboxes of their own: mcp_server_list names them, mcp_tools_list their tools, mcp_tool_call calls one.";

export interface Additions {
  /** Whether to offer the three tools through which servers are called. */
  readonly tools: boolean;
  /** The resources of servers, if they are listed. */
  readonly resourceList?: ResourceList | undefined;
}

export function withServers(profile: Profile, { resourceList, tools }: Additions): Profile {
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
