/** `resources/list`, a page at a time: the SDK's own lists all at once. */
import type { Resource } from "@modelcontextprotocol/server";
import type { Registration } from "../session/profile.js";
import type { SessionContext } from "../session/session.js";
import { pageOf } from "./page.js";
import { reader } from "./reading.js";
import { listSandboxes } from "./sandboxes.js";
import { listTemplates } from "./templates.js";
import { viewResource } from "./view.js";

/** Comes last: it takes the place of what the resources before it brought. */
export const listing: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  server.server.setRequestHandler("resources/list", async ({ params }, { mcpReq: { signal } }) => {
    const { items, ...next } = await read("resources/list", (context) =>
      pageOf(everything(context, signal), params?.cursor),
    );
    return { resources: items, ...next };
  });
};

/** What a client works with first. */
async function* everything(context: SessionContext, signal: AbortSignal): AsyncGenerator<Resource> {
  yield* listSandboxes(context, signal);
  yield* listTemplates(context, signal);
  yield viewResource;
}
