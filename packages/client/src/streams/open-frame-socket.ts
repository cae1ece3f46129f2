import { FrameSocket } from "./frame-socket.js";
import { type OpeningRequest, openConnection, type SocketRoute } from "./opening.js";

export interface StreamRequest extends OpeningRequest {
  /** Seconds for which the server may send no frame. */
  silence: number;
  /** Seconds without a sign of life after which the connection counts as lost, if `timeouts.idleSeconds` is longer. */
  idle?: number | undefined;
}

/** Opens a WebSocket. */
export function openFrameSocket(route: SocketRoute, request: StreamRequest): Promise<FrameSocket> {
  const { baseUrl, ended, sockets, timeouts } = route;
  const { scope, silence } = request;
  const { origin } = baseUrl;
  const idle = Math.min(timeouts.idle, request.idle ?? timeouts.idle);
  return openConnection(route, request, async ({ url, headers, scope: attempt, requestId, failed }) => {
    const socket = new FrameSocket({ origin, requestId, scope, idle, silence, ended, failed });
    const address = url.replace(/^http/, "ws");
    socket.attach(await sockets.open({ url: address, headers, listener: socket, scope: attempt }));
    return socket;
  });
}
