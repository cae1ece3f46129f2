import type { Socket } from "node:net";
import { EgressProblem, parseDestination } from "./destination.js";
import type { EgressAccess } from "./dialer.js";
import {
  readConnectRequest,
  readGreeting,
  SocksProblem,
  socksMethod,
  socksReplies,
  socksReply,
} from "./socks-messages.js";

const replyFor: Readonly<Record<EgressProblem["kind"], number>> = {
  malformed: socksReplies.generalFailure,
  refused: socksReplies.notAllowed,
  unresolvable: socksReplies.hostUnreachable,
  unreachable: socksReplies.hostUnreachable,
  timeout: socksReplies.ttlExpired,
  exhausted: socksReplies.generalFailure,
};

/** Serves one SOCKS5 connection. Names are looked up here, because sandboxes have no name server. */
export async function serveSocks(client: Socket, egress: EgressAccess, signal: AbortSignal): Promise<void> {
  try {
    const isAccepted = await readGreeting(client);
    client.write(socksMethod(isAccepted));
    if (!isAccepted) {
      client.end();
      return;
    }
    const { host, port } = await readConnectRequest(client);
    const destination = parseDestination(host, port);
    if (!destination) throw new SocksProblem(socksReplies.generalFailure, "The host or the port is invalid.");
    // The connection may take longer than a program may take to name its destination.
    egress.watchIdle(client);
    const join = await egress.tunnel("socks5", destination, signal);
    client.write(socksReply(socksReplies.succeeded));
    join(client);
  } catch (error) {
    if (error instanceof SocksProblem) client.end(socksReply(error.reply));
    else if (error instanceof EgressProblem) client.end(socksReply(replyFor[error.kind]));
    else client.destroy();
  }
}
