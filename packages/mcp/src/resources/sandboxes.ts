/** `sandbox://{id}`: the sandboxes that this client created or used. */
import { type Resource, ResourceTemplate } from "@modelcontextprotocol/server";
import type { Sandbox } from "cloud-sandbox";
import { sandboxResult } from "../results/sandbox-result.js";
import type { Registration } from "../session/profile.js";
import type { Session, SessionContext } from "../session/session.js";
import { completing, decoded, jsonContents, jsonType, reader } from "./reading.js";

export const sandboxes: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  const complete = { id: (typed: string) => sandboxIds(session, typed) };
  server.registerResource(
    "sandbox",
    new ResourceTemplate("sandbox://{id}", { list: undefined, complete }),
    { title: "Sandbox", description: "A sandbox: its status, template and deadline.", mimeType: jsonType },
    (uri, { id }, { mcpReq: { signal } }) =>
      read(uri.href, async (context) => {
        const { id: known } = await context.sandboxes.find({ sandbox_id: decoded(uri.href, id) }, signal);
        const sandbox = await context.client.sandboxes.get(known, { signal });
        return jsonContents(uri.href, { ...sandboxResult(sandbox), files: `${uri.href}/files/workspace` });
      }),
  );
  server.server.onclose = session.onSandboxesChange(() => server.sendResourceListChanged());
};

export function sandboxIds(session: Session, typed: string): Promise<string[]> {
  return completing(session, async (context) => {
    const ids: string[] = [];
    for await (const { id } of knownNow(context)) if (id.startsWith(typed)) ids.push(id);
    return ids;
  });
}

export async function* listSandboxes(context: SessionContext, signal: AbortSignal): AsyncGenerator<Resource> {
  for await (const sandbox of knownNow(context, signal)) yield* asResources(sandbox);
}

/** The client's sandboxes as the service lists them now, without those that have ended. */
async function* knownNow(
  { client, sandboxes }: SessionContext,
  signal?: AbortSignal,
): AsyncGenerator<Sandbox> {
  const known = new Set(sandboxes.known().map(({ id }) => id));
  if (known.size === 0) return;
  for await (const sandbox of client.sandboxes.list({ signal })) if (known.has(sandbox.id)) yield sandbox;
}

function asResources({ id, template, status }: Sandbox): Resource[] {
  const uri = `sandbox://${encodeURIComponent(id)}`;
  const description = `A sandbox from ${template ?? "a template"}, ${status}.`;
  return [
    { uri, name: id, title: `Sandbox ${id}`, description, mimeType: jsonType },
    {
      uri: `${uri}/files/workspace`,
      name: `${id}/workspace`,
      title: `Files of sandbox ${id}`,
      description: "What is in /workspace.",
      mimeType: jsonType,
    },
  ];
}
