import { createServer, type Server } from "node:http";
import {
  agentEnvelope,
  answerUnreadableRequests,
  ignoreUpgrade,
  upgradeResponse,
} from "@cloud-sandbox/server-kit";
import { EarlySocket } from "./access/early-socket.js";
import type { Agent } from "./agent.js";
import type { ListenAddress } from "./config/agent-config.js";

/** Serves an agent over HTTP. Resolves once the server is listening. */
export async function serveAgent(agent: Agent, address: ListenAddress | EarlySocket): Promise<Server> {
  const server = createServer((request, response) => void agent.handle(request, response));
  answerUnreadableRequests(server, () => agentEnvelope);
  // Idle connections stay open for 75 s, longer than a gateway keeps them, so that the agent never closes one first.
  // Requests have no time limit, because an upload may take any time.
  server.keepAliveTimeout = 75_000;
  server.requestTimeout = 0;
  server.headersTimeout = 60_000;
  server.on("connect", (request, client, head) => void agent.connect(request, client, head));
  server.on("upgrade", (request, connection, head) => {
    if (request.headers.upgrade?.toLowerCase() === "websocket")
      void agent.upgrade(request, upgradeResponse(request, connection, head));
    else ignoreUpgrade(server, request, connection, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", resolve);
    if (address instanceof EarlySocket) address.handTo(server);
    else server.listen("socket" in address ? { path: address.socket } : address);
  });
  return server;
}
