import type { IncomingMessage } from "node:http";
import { portTunnel } from "@cloud-sandbox/protocol";
import { bodyOf } from "../relay/exchange.js";
import { previewTarget } from "./preview-target.js";

/** Whether a request asks for a tunnel to a port, which previews do not have. */
export const isPortTunnel = (request: IncomingMessage): boolean =>
  protocolOf(request) === portTunnel.protocol && !previewTarget(request);

/** Whether a request asks for another protocol that this server has. Otherwise it is answered as if it had not asked. */
export function isUpgrade(request: IncomingMessage): boolean {
  // A WebSocket or tunnel request has no body. Node would leave a body unread on the connection.
  const isBare = request.method === "GET" && bodyOf(request) === undefined;
  return isBare && (protocolOf(request) === "websocket" || isPortTunnel(request));
}

const protocolOf = ({ headers }: IncomingMessage): string | undefined => headers.upgrade?.toLowerCase();
