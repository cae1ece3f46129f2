/** `template://{name}`: the templates from which sandboxes can be created. */
import { type Resource, ResourceTemplate } from "@modelcontextprotocol/server";
import type { TemplateRecord } from "cloud-sandbox";
import { similarNames } from "../errors/similar-names.js";
import { wireNames } from "../results/answer.js";
import type { Registration } from "../session/profile.js";
import type { Session, SessionContext } from "../session/session.js";
import { completing, decoded, jsonContents, jsonType, reader } from "./reading.js";

export const templates: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  const complete = { name: (typed: string) => templateNames(session, typed) };
  server.registerResource(
    "template",
    new ResourceTemplate("template://{name}", { list: undefined, complete }),
    {
      title: "Template",
      description: "Templates, from which sandboxes are made: languages, features, resources.",
      mimeType: jsonType,
    },
    (uri, { name }, { mcpReq: { signal } }) =>
      read(uri.href, async ({ client }) => {
        const template = await client.templates.get(decoded(uri.href, name), { signal });
        return jsonContents(uri.href, { name: template.name, ...wireNames(template) });
      }),
  );
};

/** Names of templates that begin with `typed`, or else similar names. */
export function templateNames(session: Session, typed: string): Promise<string[]> {
  return completing(session, async ({ client }) => {
    const names: string[] = [];
    for await (const { name } of client.templates.list()) names.push(name);
    const beginning = names.filter((name) => name.startsWith(typed));
    return beginning.length > 0 ? beginning : similarNames(typed, names);
  });
}

export async function* listTemplates(
  { client }: SessionContext,
  signal: AbortSignal,
): AsyncGenerator<Resource> {
  for await (const template of client.templates.list({ signal })) yield asResource(template);
}

function asResource({
  name,
  displayName,
  description = "A template for sandboxes.",
  status,
}: TemplateRecord): Resource {
  return {
    uri: `template://${encodeURIComponent(name)}`,
    name,
    title: displayName ?? name,
    description: (status ?? "active") === "active" ? description : `${description} It is ${status}.`,
    mimeType: jsonType,
  };
}
