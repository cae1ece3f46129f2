/** `mcp-server://{server}/{uri}`: resources of other people's MCP servers, to which links in their results lead. */
import { ResourceTemplate } from "@modelcontextprotocol/server";
import { untrusted } from "../results/untrusted-content.js";
import type { Registration } from "../session/profile.js";
import { decoded, reader } from "./reading.js";

export const serverResources: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  server.registerResource(
    "mcp-server-resource",
    new ResourceTemplate("mcp-server://{server}/{uri}", { list: undefined }),
    {
      title: "Resource of an MCP server",
      description: "What a link in a result of another MCP server leads to; the URI is percent-encoded.",
    },
    (uri, variables, { mcpReq: { signal } }) =>
      read(uri.href, async ({ servers }) => {
        const [name, theirs] = [variables.server, variables.uri].map((part) => decoded(uri.href, part));
        if (servers === undefined || name === undefined || theirs === undefined)
          throw new Error("no MCP servers are configured");
        const { contents } = await servers.read(name, theirs, { signal, report: () => undefined });
        return { contents: contents.map((content) => ({ ...content, uri: uri.href, ...untrusted })) };
      }),
  );
};
