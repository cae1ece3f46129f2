/** Other people's servers' resource templates in this program's list, as `server__template`. */
import { type McpServer, ResourceTemplate, type ResourceTemplateType } from "@modelcontextprotocol/server";
import { readServerResource } from "../resources/server-resources.js";
import { relayedTemplate } from "../results/relayed-result.js";
import type { SharedToolParts } from "../server/registered-tool.js";
import type { OtherLists } from "../servers/running-server.js";
import { type Registered, suggestions } from "./relaying.js";
import { toolPrefix } from "./tool-names.js";

export function registerTemplates(
  server: McpServer,
  name: string,
  { completes, resourceTemplates }: OtherLists,
  { profile, session }: SharedToolParts,
): Registered[] {
  const read = readServerResource(session, profile);
  const byName = new Map(resourceTemplates.map((each) => [each.name, each]));
  return resourceTemplates.map((each) => {
    const { name: own, uriTemplate, ...metadata } = each;
    const template = new ResourceTemplate(relayedTemplate(name, uriTemplate), {
      list: undefined,
      complete: completes ? completers(each) : {},
    });
    // The SDK keeps templates by their names, which need not be different.
    const listed = byName.get(own) === each ? own : `${own} ${uriTemplate}`;
    return server.registerResource(`${toolPrefix(name)}${listed}`, template, metadata, read);
  });

  function completers({ uriTemplate }: ResourceTemplateType) {
    const ref = { type: "ref/resource", uri: uriTemplate } as const;
    const { variableNames } = new ResourceTemplate(uriTemplate, { list: undefined }).uriTemplate;
    return Object.fromEntries(
      variableNames.map((variable) => [variable, suggestions(session, name, ref, variable)]),
    );
  }
}
