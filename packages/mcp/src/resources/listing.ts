/** `resources/list`, page by page: the SDK's own handler returns everything at once. */
import type { Resource } from "@modelcontextprotocol/server";
import type { Profile, Registration } from "../session/profile.js";
import type { SessionContext } from "../session/session.js";
import { pageOf } from "./page.js";
import { reader } from "./reading.js";

/** Must be registered last: it replaces the handler that the SDK set for the other resources. */
export const listing: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  server.server.setRequestHandler("resources/list", async ({ params }, { mcpReq: { signal } }) => {
    const { items, ...next } = await read("resources/list", (context) =>
      pageOf(everything(profile, context, signal), params?.cursor),
    );
    return { resources: items, ...next };
  });
};

async function* everything(
  { resourceLists = [] }: Profile,
  context: SessionContext,
  signal: AbortSignal,
): AsyncGenerator<Resource> {
  for (const list of resourceLists) yield* list(context, signal);
}
