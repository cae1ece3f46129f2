import { ConfigurationError } from "../../errors/errors.js";
import type { OpenWebSocket, Sockets, WebSocketLike } from "./sockets.js";
import { StandardSockets } from "./standard-sockets.js";
import { UndiciSockets } from "./undici-sockets.js";

/**
 * The WebSocket implementation: the caller's if given, undici on Node.js, the runtime's own on Bun and Deno (which can
 * send headers), elsewhere none.
 */
export function socketsOf(openWebSocket: OpenWebSocket | undefined): Sockets {
  if (openWebSocket !== undefined) return new StandardSockets(openWebSocket);
  const versions: Record<string, string | undefined> = globalThis.process?.versions ?? {};
  if (versions.bun !== undefined || versions.deno !== undefined) return new StandardSockets(withHeaders);
  return versions.node === undefined ? new StandardSockets(unavailable) : new UndiciSockets();
}

type WithHeaders = new (url: string, init: { headers: Record<string, string> }) => WebSocketLike;

const withHeaders: OpenWebSocket = (url, init) => {
  const Socket: unknown = globalThis.WebSocket;
  return new (Socket as WithHeaders)(url, init);
};

const unavailable: OpenWebSocket = () => {
  throw new ConfigurationError({
    summary: "WebSockets of this runtime cannot send the sandbox's token.",
    hint: "Give the client a webSocket option that sends headers, or use calls that need no stream.",
    code: "WEBSOCKET_UNAVAILABLE",
  });
};
