/** `mcp-server://{server}/{+uri}`: resources of other people's MCP servers, which are listed, or to which links in results lead. */
import { type ReadResourceTemplateCallback, ResourceTemplate } from "@modelcontextprotocol/server";
import { untrusted } from "../results/answer.js";
import { relayedContents } from "../results/relayed-result.js";
import type { Profile, Registration } from "../session/profile.js";
import type { Session } from "../session/session.js";
import { decoded, reader } from "./reading.js";

export const serverResources: Registration = (server, session, profile) => {
  server.registerResource(
    "mcp-server-resource",
    new ResourceTemplate("mcp-server://{server}/{+uri}", { list: undefined }),
    {
      title: "Resource of an MCP server",
      description: "What a link in a result of another MCP server leads to; the URI is percent-encoded.",
    },
    readServerResource(session, profile),
  );
};

export function readServerResource(session: Session, profile: Profile): ReadResourceTemplateCallback {
  const read = reader(session, profile);
  return (uri, _, { mcpReq: { signal } }) =>
    read(uri.href, async ({ servers }) => {
      const [, name = "", theirs = ""] = /^mcp-server:\/\/([^/]+)\/(.*)$/s.exec(uri.href) ?? [];
      if (servers === undefined) throw new Error("no MCP servers are configured");
      const { contents } = await servers.relay(
        decoded(uri.href, name),
        "resources/read",
        { uri: decoded(uri.href, theirs) },
        { signal, report: () => undefined },
      );
      return {
        contents: relayedContents(contents, name).map((content) => ({
          ...content,
          uri: uri.href,
          _meta: { ...content._meta, ...untrusted._meta },
        })),
      };
    });
}
