/** `resources/list`, page by page: the SDK's own handler returns everything at once. */
import type { Resource } from "@modelcontextprotocol/server";
import type { Registration } from "../session/profile.js";
import type { SessionContext } from "../session/session.js";
import { pageOf } from "./page.js";
import { reader } from "./reading.js";
import { listSandboxes } from "./sandboxes.js";
import { listTemplates } from "./templates.js";
import { viewResource } from "./view.js";

/** Must be registered last: it replaces the handler that the SDK set for the other resources. */
export const listing: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  server.server.setRequestHandler("resources/list", async ({ params }, { mcpReq: { signal } }) => {
    const { items, ...next } = await read("resources/list", (context) =>
      pageOf(everything(context, signal), params?.cursor),
    );
    return { resources: items, ...next };
  });
};

/** The client's sandboxes come first, then the account's templates. */
async function* everything(context: SessionContext, signal: AbortSignal): AsyncGenerator<Resource> {
  yield* listSandboxes(context, signal);
  yield* listTemplates(context, signal);
  yield viewResource;
}
