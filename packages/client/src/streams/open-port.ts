import type { Duplex } from "node:stream";
import { portTunnel } from "@cloud-sandbox/protocol";
import type { CallScope } from "../transport/calls/calls.js";
import { openConnection, type SocketRoute } from "./opening.js";

/** Opens a connection to a port inside the sandbox. */
export async function openPort(route: SocketRoute, port: number, scope: CallScope): Promise<Duplex> {
  const { protocol } = portTunnel;
  const request = { path: portTunnel.path(port), scope };
  const { tunnel } = await openConnection(route, request, async ({ url, headers, scope: attempt }) => {
    const opened = await route.sockets.openTunnel({ url, headers, protocol, scope: attempt });
    return { tunnel: opened, close: () => void opened.destroy() };
  });
  tunnel.once("close", route.ended);
  return tunnel;
}
