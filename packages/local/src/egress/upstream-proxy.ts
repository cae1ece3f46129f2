import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { destroyOnAbort } from "../relay/destroy-on-abort.js";
import type { Destination } from "./destination.js";
import { EgressProblem } from "./egress-problem.js";

/** Parses the URL of the HTTP proxy that this machine needs to reach the internet; undefined if it is not an `http:` URL. */
export function parseUpstreamProxy(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" ? url : undefined;
}

/** Opens a CONNECT tunnel to `destination`. The proxy gets the name and not an address, because the proxy's rules may be about names. */
export function connectThrough(
  proxy: URL,
  { host, port }: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: Number(proxy.port || 80),
      allowHalfOpen: true,
    });
    const unreachable = (why: string): void => {
      socket.destroy();
      reject(new EgressProblem("unreachable", `The upstream proxy of this machine ${why}.`));
    };
    const connectRequest = request({
      createConnection: () => socket,
      method: "CONNECT",
      path: authority,
      headers: {
        host: authority,
        ...(proxy.username && {
          "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}`,
        }),
      },
    });
    const stopListening = destroyOnAbort(signal, socket, reject);
    connectRequest.once("error", () => unreachable("could not be reached"));
    connectRequest.once("connect", ({ statusCode }, _socket, head) => {
      if (statusCode !== 200) return unreachable(`refused ${authority} (${statusCode})`);
      stopListening();
      if (head.length > 0) socket.unshift(head);
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
    connectRequest.end();
  });
}
