/** Requests to other people's servers that a client of this program causes. */
import { completing } from "../resources/reading.js";
import type { ClientServers } from "../servers/client-servers.js";
import type { RelayedMethod, RelayedParams } from "../servers/running-server.js";
import type { Session, SessionContext } from "../session/session.js";

/** The SDK's handle of something that is registered with it. */
export interface Registered {
  remove(): void;
}

/** Passes a request on to a server. */
export function relay<Method extends RelayedMethod>(
  { servers }: Pick<SessionContext, "servers">,
  server: string,
  method: Method,
  params: RelayedParams<Method>,
  signal: AbortSignal = new AbortController().signal,
): ReturnType<typeof ClientServers.prototype.relay<Method>> {
  if (servers === undefined) throw new Error("no MCP servers are configured");
  return servers.relay(server, method, params, { signal, report: () => undefined });
}

/** Suggests values as the server does: for an argument of a prompt, or a variable of a resource template. */
export function suggestions(
  session: Session,
  server: string,
  ref: RelayedParams<"completion/complete">["ref"],
  name: string,
): (typed: string, context?: { arguments?: Record<string, string> }) => Promise<string[]> {
  return (value, context) =>
    completing(session, async (own) => {
      const params = { ref, argument: { name, value }, ...(context !== undefined && { context }) };
      const { completion } = await relay(own, server, "completion/complete", params);
      return completion.values;
    });
}
