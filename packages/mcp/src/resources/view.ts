/** The page that hosts with MCP Apps show beside a tool's result; other clients never ask for it. */
import type { Resource } from "@modelcontextprotocol/server";
import { viewPage } from "../generated/view-page.js";
import type { Profile, Registration } from "../session/profile.js";
import type { Tool } from "../tools/definition/tool.js";

const uri = "ui://cloud-sandbox/view";
const mimeType = "text/html;profile=mcp-app";
/** The page loads nothing and connects to nothing, so it asks for no domain. */
const meta = { ui: { prefersBorder: true } };

const viewResource: Resource = {
  uri,
  name: "view",
  title: "Results and templates",
  description: "Shows a program's output and plots, and browses templates.",
  mimeType,
};

export async function* listView(): AsyncGenerator<Resource> {
  yield viewResource;
}

export const view: Registration = (server) => {
  const { name, title, description } = viewResource;
  server.registerResource(name, uri, { title, description, mimeType, _meta: meta }, () => ({
    contents: [{ uri, mimeType, text: viewPage, _meta: meta }],
  }));
};

/** The `_meta` of a listed tool whose results hosts with MCP Apps show in the page. Undefined for other tools. */
export function viewOf(
  { toolset, output }: Tool,
  profile: Profile,
): { ui: { resourceUri: string } } | undefined {
  const isShown = toolset === "templates" || "exit_code" in (output?.shape ?? {});
  return isShown && profile.resources?.includes(view) === true ? { ui: { resourceUri: uri } } : undefined;
}
