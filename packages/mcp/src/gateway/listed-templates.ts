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
  const taken = new Set<string>();
  return resourceTemplates.flatMap((each) => {
    const { name: own, uriTemplate, ...metadata } = each;
    // The SDK keeps templates by their names, which need not be different.
    const listed = byName.get(own) === each ? own : `${own} ${uriTemplate}`;
    const template = templateOf(each);
    if (template === undefined || taken.has(listed)) return [];
    taken.add(listed);
    return [server.registerResource(`${toolPrefix(name)}${listed}`, template, metadata, read)];
  });

  /** Undefined for a text that is no template, such as `file://{path`: it is left out, so that others can be used. */
  function templateOf(each: ResourceTemplateType): ResourceTemplate | undefined {
    try {
      return new ResourceTemplate(relayedTemplate(name, each.uriTemplate), {
        list: undefined,
        complete: completes ? completers(each) : {},
      });
    } catch {
      return undefined;
    }
  }

  function completers({ uriTemplate }: ResourceTemplateType) {
    const ref = { type: "ref/resource", uri: uriTemplate } as const;
    const { variableNames } = new ResourceTemplate(uriTemplate, { list: undefined }).uriTemplate;
    return Object.fromEntries(
      variableNames.map((variable) => [variable, suggestions(session, name, ref, variable)]),
    );
  }
}
